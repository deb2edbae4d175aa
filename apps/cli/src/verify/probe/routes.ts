// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the kernel's tables in /proc/net: the route of an address, its neighbour entry, and the counters of fragments. Netlink would
 * need a native module.
 */
import { BlockList, isIPv6 } from "node:net";

interface Route {
  readonly interface: string;
  readonly prefix: number;
  readonly metric: number;
}

/** RTF_REJECT of include/uapi/linux/route.h, and RTF_LOCAL of include/uapi/linux/ipv6_route.h. */
const flags = { reject: 0x200, local: 0x8000_0000 };

/**
 * Returns the interface of the most specific route in the main table. `table` is the text of /proc/net/route, or of
 * /proc/net/ipv6_route for an IPv6 address.
 */
export function routeInterface(table: string, address: string): string | undefined {
  const read = isIPv6(address) ? readIpv6Route : readIpv4Route;
  const routes = table.split("\n").flatMap((line) => read(line.trim().split(/\s+/), address) ?? []);
  routes.sort((a, b) => b.prefix - a.prefix || a.metric - b.metric);
  return routes[0]?.interface;
}

/** Iface Destination Gateway Flags RefCnt Use Metric Mask …; addresses are hexadecimal numbers in the order of the machine. */
function readIpv4Route(words: readonly string[], address: string): Route | undefined {
  const [name = "", destination = "", , flag = "", , , metric = "", mask = ""] = words;
  if (!/^[0-9A-F]{8}$/i.test(destination) || !/^[0-9A-F]{8}$/i.test(mask)) return undefined;
  const prefix = mask.split("").reduce((sum, digit) => sum + bitsOf(Number.parseInt(digit, 16)), 0);
  const bytes = (destination.match(/../g) ?? []).reverse().map((byte) => Number.parseInt(byte, 16));
  const isRefused = (Number.parseInt(flag, 16) & flags.reject) !== 0;
  if (isRefused || !isWithin(address, { network: bytes.join("."), prefix, family: "ipv4" })) return undefined;
  return { interface: name, prefix, metric: Number(metric) };
}

/** Destination, its prefix, source, its prefix, next hop, metric, references, use, flags, interface. */
function readIpv6Route(words: readonly string[], address: string): Route | undefined {
  const [destination = "", length = "", , , , metric = "", , , flag = "", name = ""] = words;
  if (!/^[0-9a-f]{32}$/i.test(destination)) return undefined;
  const prefix = Number.parseInt(length, 16);
  const network = (destination.match(/..../g) ?? []).join(":");
  const flagBits = Number.parseInt(flag, 16);
  const isUnusable = (flagBits & flags.reject) !== 0 || (flagBits & flags.local) !== 0;
  if (isUnusable || !isWithin(address, { network, prefix, family: "ipv6" })) return undefined;
  return { interface: name, prefix, metric: Number.parseInt(metric, 16) };
}

interface Subnet {
  readonly network: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

function isWithin(address: string, { network, prefix, family }: Subnet): boolean {
  const subnet = new BlockList();
  subnet.addSubnet(network, prefix, family);
  return subnet.check(address, family);
}

function bitsOf(digit: number): number {
  return [1, 2, 4, 8].filter((bit) => (digit & bit) !== 0).length;
}

/** Returns the entry of an address on an interface. `table` is the text of /proc/net/arp: IP address, type, flags, MAC, mask, device. */
export function neighbourOf(
  table: string,
  { address, name }: { readonly address: string; readonly name: string },
): { readonly mac: string; readonly isComplete: boolean } | undefined {
  for (const line of table.split("\n").slice(1)) {
    const [ip = "", , flag = "", mac = "", , device = ""] = line.trim().split(/\s+/);
    // ATF_COM (include/uapi/linux/if_arp.h)
    if (ip === address && device === name) return { mac, isComplete: (Number.parseInt(flag, 16) & 2) !== 0 };
  }
  return undefined;
}

/** Returns how many fragments were made and received. `counters` is the text of /proc/net/snmp, then that of /proc/net/snmp6. */
export function fragmentsIn(counters: string): number {
  const [names = "", values = ""] = counters.split("\n").filter((line) => line.startsWith("Ip: "));
  const numbers = values.split(" ");
  const ipv4 = names.split(" ").map((name, at): readonly [string, number] => [name, Number(numbers[at])]);
  const ipv6 = [...counters.matchAll(/^Ip6(FragCreates|ReasmReqds)\s+(\d+)/gm)];
  const all = [...ipv4, ...ipv6.map(([, name = "", value]): readonly [string, number] => [name, Number(value)])];
  return all
    .filter(([name]) => name === "FragCreates" || name === "ReasmReqds")
    .reduce((sum, [, value]) => sum + value, 0);
}
