// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about spec.ipam. The IPAM plugins of the CNI project and whereabouts refuse addresses without a prefix length when a pod
 * starts, and nothing before says so. Texts that are no JSON object are refused elsewhere. Other plugins are not known here.
 */
import { parseLimitedJson } from "@switchyard/api";
import { at, listAt } from "@switchyard/policy";
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
  const type = at(ipam, "type");
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
    const single = at(ipam, "subnet");
    const ranges = listAt(ipam, "ranges").flatMap((set: unknown, nth) =>
      (Array.isArray(set) ? set : []).map((range: unknown, index) => ({
        path: `ranges[${nth}][${index}].subnet`,
        value: at(range, "subnet"),
      })),
    );
    return [...(single === undefined ? [] : [{ path: "subnet", value: single }]), ...ranges];
  }
  if (type === "static") {
    const addresses = listAt(ipam, "addresses");
    return addresses.map((one, nth) => ({ path: `addresses[${nth}].address`, value: at(one, "address") }));
  }
  if (type !== "whereabouts") return [];
  return [
    { path: "range", value: at(ipam, "range") },
    ...listAt(ipam, "ipRanges").map((one, nth) => ({ path: `ipRanges[${nth}].range`, value: at(one, "range") })),
  ];
}

function parsed(text: string): object | undefined {
  try {
    const value = parseLimitedJson(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
