// SPDX-License-Identifier: Apache-2.0
/**
 * readPodNetwork reads the interfaces and routes of a pod's network namespace, for CHECK and the doctor. Node has neither
 * setns(2) nor netlink, so it runs `nsenter` of util-linux and `ip -j` of iproute2.
 */
import { CniError, cniCode } from "../request/cni-error.ts";
import type { Wait } from "../process/deadline.ts";
import { formatCidr, isIpv4, networkOf, parseCidr, parseIp } from "../addresses/ip-address.ts";
import { isArray, isObject, parseJson, type JsonObject, type JsonValue } from "../request/json.ts";
import { runCommand } from "../process/run-command.ts";

/** The interfaces and routes of a network namespace. */
export interface PodNetwork {
  readonly links: readonly PodLink[];
  readonly routes: readonly PodRoute[];
}

/** One interface. */
export interface PodLink {
  readonly name: string;
  /** Lower case, with colons; "" if the interface has no hardware address. */
  readonly mac: string;
  readonly mtu: number;
  /** The bridge that the interface is attached to; "" if it is not attached. */
  readonly master: string;
  /** "address/bits", shortest spelling. */
  readonly addresses: readonly string[];
}

/** One route of the main table. */
export interface PodRoute {
  /** "network/bits", shortest spelling. */
  readonly dst: string;
  /** "" for a destination on the link. */
  readonly gateway: string;
  readonly dev: string;
}

/** Reads the interfaces alone. Throws as readPodNetwork does. */
export async function readLinks(netns: string, wait: Wait): Promise<readonly PodLink[]> {
  return (await runIp(netns, showLinks, wait)).map(parseLink);
}

/** Deletes a veth interface, if it exists. Throws as readPodNetwork does. */
export async function deleteVeth(netns: string, ifName: string, wait: Wait): Promise<boolean> {
  const found = (await runIp(netns, showLinks, wait)).find((link) => link["ifname"] === ifName);
  const info = found?.["linkinfo"];
  if (!isObject(info) || info["info_kind"] !== "veth") return false;
  await runIp(netns, ["link", "delete", "dev", ifName], wait);
  return true;
}

const showLinks = ["-details", "address", "show"];

/** Throws code 5 when `nsenter` or `ip` is missing or fails. */
export async function readPodNetwork(netns: string, wait: Wait): Promise<PodNetwork> {
  const ip = (...args: string[]) => runIp(netns, args, wait);
  const [links, ipv4, ipv6] = await Promise.all([
    ip(...showLinks),
    ip("-4", "route", "show"),
    ip("-6", "route", "show"),
  ]);
  return {
    links: links.map(parseLink),
    routes: [...ipv4.map((route) => parseRoute(route, 4)), ...ipv6.map((route) => parseRoute(route, 6))],
  };
}

async function runIp(netns: string, args: readonly string[], wait: Wait): Promise<readonly JsonObject[]> {
  const what = `nsenter --net=${netns} ip -j ${args.join(" ")}`;
  const fail = (details: string, cause?: unknown) =>
    new CniError(cniCode.io, `cannot read the pod's network namespace: ${what}`, { details, cause });
  let outcome;
  try {
    outcome = await runCommand("nsenter", [`--net=${netns}`, "ip", "-j", ...args], { env: process.env, ...wait });
  } catch (cause) {
    if (cause instanceof CniError) throw cause;
    throw fail("cannot start nsenter", cause);
  }
  if (outcome.status !== 0) throw fail(outcome.stderr.trim());
  try {
    const list = parseJson(outcome.stdout.trim() === "" ? "[]" : outcome.stdout);
    if (isArray(list)) return list.filter(isObject);
  } catch {
    // Reported below: the `ip` of busybox ignores -j and prints text.
  }
  throw fail("ip did not print JSON; install iproute2");
}

function parseLink(link: JsonObject): PodLink {
  const addresses = link["addr_info"];
  return {
    name: textOf(link["ifname"]),
    mac: textOf(link["address"]).toLowerCase(),
    mtu: typeof link["mtu"] === "number" ? link["mtu"] : 0,
    master: textOf(link["master"]),
    addresses: (isArray(addresses) ? addresses.filter(isObject) : []).map(({ local, prefixlen }) =>
      spell(`${textOf(local)}/${typeof prefixlen === "number" ? prefixlen : ""}`),
    ),
  };
}

function parseRoute(route: JsonObject, family: 4 | 6): PodRoute {
  const dst = textOf(route["dst"]);
  return { dst: spellDestination(dst, family), gateway: textOf(route["gateway"]), dev: textOf(route["dev"]) };
}

/** `ip` prints "default" for the default route, and no prefix length for the route to a single host. */
function spellDestination(dst: string, family: 4 | 6): string {
  if (dst === "default") return family === 4 ? "0.0.0.0/0" : "::/0";
  const host = parseIp(dst);
  if (host !== undefined) return formatCidr({ address: host, bits: isIpv4(host) ? 32 : 128 });
  const cidr = parseCidr(dst);
  return cidr === undefined ? dst : formatCidr(networkOf(cidr));
}

function spell(text: string): string {
  const cidr = parseCidr(text);
  return cidr === undefined ? text : formatCidr(cidr);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
