// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about spec.ipam. The IPAM plugins of the CNI project and whereabouts refuse addresses without a prefix length when a pod
 * starts, and nothing before says so. Texts that are no JSON object are refused elsewhere. Other plugins are not known here.
 */
import { quote, warn, type ReviewFinding } from "../finding.ts";

/** Ranges that are shown; a range has at least one place. */
const maxFindings = 4;

/** A place of an address with a prefix length: { path: "ranges[0][0].subnet", value: "10.0.0.0" }. */
interface Place {
  readonly path: string;
  readonly value: unknown;
}

export function checkIpam(text: string | undefined): readonly ReviewFinding[] {
  const ipam = text ? parsed(text) : undefined;
  const type = memberOf(ipam, "type");
  if (ipam === undefined || typeof type !== "string") return [];
  return placesOf(type, ipam)
    .filter(({ value }) => typeof value === "string" && value !== "" && !/\/\d{1,3}$/.test(value))
    .slice(0, maxFindings)
    .map(({ path, value }) => {
      const example = `${String(value)}/${String(value).includes(":") ? 64 : 24}`;
      const effect = "has no prefix length, so pods would not start";
      return warn("spec.ipam", `${path} ${quote(String(value))} ${effect}: write one, such as ${quote(example)}`);
    });
}

function placesOf(type: string, ipam: object): readonly Place[] {
  if (type === "host-local") {
    const single = memberOf(ipam, "subnet");
    const ranges = listOf(memberOf(ipam, "ranges")).flatMap((set, at) =>
      listOf(set).map((range, index) => ({
        path: `ranges[${at}][${index}].subnet`,
        value: memberOf(range, "subnet"),
      })),
    );
    return [...(single === undefined ? [] : [{ path: "subnet", value: single }]), ...ranges];
  }
  if (type === "static") {
    const addresses = listOf(memberOf(ipam, "addresses"));
    return addresses.map((one, at) => ({ path: `addresses[${at}].address`, value: memberOf(one, "address") }));
  }
  if (type !== "whereabouts") return [];
  const ranges = listOf(memberOf(ipam, "ipRanges"));
  return [
    { path: "range", value: memberOf(ipam, "range") },
    ...ranges.map((one, at) => ({ path: `ipRanges[${at}].range`, value: memberOf(one, "range") })),
  ];
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
