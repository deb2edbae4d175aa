// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the interfaces that routes use. struct rtmsg has u8 family, u8 length of the destination, u8 length of the
 * source, u8 TOS, u8 table, u8 protocol, u8 scope, u8 type, u32 flags. Attributes RTA_* follow (linux/rtnetlink.h).
 * Usage: `const indexes = await routeLinks(socket, "192.0.2.1")`.
 */
import { malformed, NetlinkError } from "../netlink-error.ts";
import type { NetlinkSocket } from "../netlink-socket.ts";
import { formatIpAddress, parseIpAddress } from "../wire/ip-address.ts";
import type { Message } from "../wire/message.ts";
import { bytes, find, parseAttributes, readU16, readU32, type Attribute } from "../wire/attributes.ts";

const messageTypes = { newRoute: 24, getRoute: 26 };
const attributes = { destination: 1, outInterface: 4, gateway: 5, multipath: 9, via: 18 };
const families = { ipv4: 2, ipv6: 10 };
const headerBytes = 12;
const nextHopBytes = 8; // struct rtnexthop: u16 length, u8 flags, u8 hops, i32 interface
const unicast = 1; // RTN_UNICAST
const wholeRoute = 0x2000; // RTM_F_FIB_MATCH: with all next hops

/** The indexes of the interfaces of all default routes, of both families and in all tables, in ascending order. */
export async function defaultRouteLinks(socket: NetlinkSocket): Promise<readonly number[]> {
  const indexes = new Set<number>();
  for (const message of await listUnicastRoutes(socket)) {
    if (isDefaultRoute(message)) for (const index of linksOf(message)) indexes.add(index);
  }
  return [...indexes].sort((a, b) => a - b);
}

/** The next hop of a default route. */
export interface Gateway {
  /** "192.0.2.254" or "fe80::1". */
  readonly address: string;
  /** Index of the interface. */
  readonly link: number;
}

/** The gateways of all default routes, of both families and in all tables. A route without a gateway is left out. */
export async function defaultGateways(socket: NetlinkSocket): Promise<readonly Gateway[]> {
  const gateways = new Map<string, Gateway>();
  for (const message of await listUnicastRoutes(socket)) {
    if (!isDefaultRoute(message)) continue;
    for (const gateway of gatewaysOf(message)) gateways.set(`${gateway.link} ${gateway.address}`, gateway);
  }
  return [...gateways.values()].sort((a, b) => a.link - b.link || (a.address < b.address ? -1 : 1));
}

async function listUnicastRoutes(socket: NetlinkSocket): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for (const family of Object.values(families)) {
    const payload = encodeHeader({ family, type: unicast });
    messages.push(...(await socket.dump({ tried: "list routes", type: messageTypes.getRoute, payload })));
  }
  return messages;
}

/** A network that is on the link of an interface, because the host has an address in it. */
export interface ConnectedNetwork {
  /** "10.7.0.0/16". */
  readonly network: string;
  /** Indexes of the interfaces, in ascending order. */
  readonly links: readonly number[];
}

/**
 * The networks of both families to which the host has a route without a gateway, in all tables. Networks of link-local addresses
 * and of the loopback interface are left out.
 */
export async function connectedNetworks(socket: NetlinkSocket): Promise<readonly ConnectedNetwork[]> {
  const byNetwork = new Map<string, Set<number>>();
  for (const message of await listUnicastRoutes(socket)) {
    const network = networkOf(message);
    if (network === undefined) continue;
    const links = byNetwork.get(network) ?? new Set();
    for (const index of linksOf(message)) if (index !== loopbackIndex) links.add(index);
    if (links.size > 0) byNetwork.set(network, links);
  }
  return [...byNetwork].map(([network, links]) => ({ network, links: [...links].sort((a, b) => a - b) }));
}

const loopbackIndex = 1;
const localTable = 255; // RT_TABLE_LOCAL

/** Returns undefined for a route that has a gateway, is no unicast route, or leads to link-local addresses. */
function networkOf({ type, payload }: Message): string | undefined {
  if (type !== messageTypes.newRoute) return undefined;
  if (payload.length < headerBytes) throw malformed(`route message of ${payload.length} bytes`);
  const [family, bits = 0] = payload;
  if (bits === 0 || payload[4] === localTable || payload[7] !== unicast) return undefined;
  const route = parseAttributes(payload.subarray(headerBytes));
  const destination = find(route, attributes.destination);
  const hasGateway = find(route, attributes.gateway) !== undefined || find(route, attributes.via) !== undefined;
  if (destination === undefined || hasGateway) return undefined;
  const isWhole = destination.length === (family === families.ipv4 ? 4 : 16);
  const address = isWhole ? globalAddress(destination) : undefined;
  return address === undefined ? undefined : `${address}/${bits}`;
}

/** Returns undefined for a link-local or multicast address, and for bytes that are no address. */
function globalAddress(address: Buffer): string | undefined {
  const [first = 0, second = 0] = address;
  const isLocalV4 = (first === 169 && second === 254) || first >= 224 || first === 127;
  const isLocalV6 = first === 0xff || (first === 0xfe && (second & 0xc0) === 0x80);
  return (address.length === 4 ? isLocalV4 : isLocalV6) ? undefined : formatIpAddress(address);
}

/**
 * `ip route get ADDRESS`, without following a cached exception: the indexes of the interfaces through which packets to the
 * address leave. Empty if there is no route. Rejects with EINVAL if `address` is not an IP address.
 */
export async function routeLinks(socket: NetlinkSocket, address: string): Promise<readonly number[]> {
  const tried = `look up route to ${address}`;
  const destination = parseIpAddress(address);
  if (destination === undefined) throw new NetlinkError(tried, "EINVAL");
  const family = destination.length === 4 ? families.ipv4 : families.ipv6;
  const header = encodeHeader({ family, destinationBits: destination.length * 8, flags: wholeRoute });
  try {
    const messages = await socket.request({
      tried,
      type: messageTypes.getRoute,
      payload: Buffer.concat([header, bytes(attributes.destination, destination)]),
    });
    return messages.filter(({ type }) => type === messageTypes.newRoute).flatMap(linksOf);
  } catch (error) {
    if (error instanceof NetlinkError && withoutRoute.has(error.code)) return [];
    throw error;
  }
}

// EACCES, EINVAL: a route of type prohibit or blackhole. EAFNOSUPPORT, EOPNOTSUPP: the kernel has no IPv6.
const withoutRoute: ReadonlySet<string> = new Set([
  ...["ENETUNREACH", "EHOSTUNREACH", "EACCES", "EINVAL", "ESRCH", "EAFNOSUPPORT", "EOPNOTSUPP"],
]);

interface RouteHeader {
  readonly family: number;
  readonly destinationBits?: number;
  readonly type?: number;
  readonly flags?: number;
}

function encodeHeader({ family, destinationBits = 0, type = 0, flags = 0 }: RouteHeader): Buffer {
  const header = Buffer.alloc(headerBytes);
  header[0] = family;
  header[1] = destinationBits;
  header[7] = type;
  header.writeUInt32LE(flags, 8);
  return header;
}

/** Kernels that do not filter list routes of all types. */
function isDefaultRoute({ type, payload }: Message): boolean {
  if (type !== messageTypes.newRoute) return false;
  if (payload.length < headerBytes) throw malformed(`route message of ${payload.length} bytes`);
  return payload[1] === 0 && payload[7] === unicast;
}

function linksOf({ payload }: Message): readonly number[] {
  if (payload.length < headerBytes) throw malformed(`route message of ${payload.length} bytes`);
  const route = parseAttributes(payload.subarray(headerBytes));
  const one = find(route, attributes.outInterface);
  const many = find(route, attributes.multipath);
  const hops = many === undefined ? [] : parseNextHops(many);
  return [...(one === undefined ? [] : [readU32(one)]), ...hops.map(({ link }) => link)];
}

function gatewaysOf({ payload }: Message): readonly Gateway[] {
  const route = parseAttributes(payload.subarray(headerBytes));
  const one = find(route, attributes.outInterface);
  const many = find(route, attributes.multipath);
  const hops = [
    ...(one === undefined ? [] : [{ link: readU32(one), route }]),
    ...(many === undefined ? [] : parseNextHops(many)),
  ];
  return hops.flatMap((hop): readonly Gateway[] => {
    const address = gatewayOf(hop.route);
    return address === undefined ? [] : [{ address, link: hop.link }];
  });
}

/** An IPv4 route can have an IPv6 gateway: struct rtvia has u16 family, and the address follows. */
function gatewayOf(route: readonly Attribute[]): string | undefined {
  const via = find(route, attributes.via)?.subarray(2);
  const address = find(route, attributes.gateway) ?? via;
  return address === undefined || (address.length !== 4 && address.length !== 16)
    ? undefined
    : formatIpAddress(address);
}

interface NextHop {
  readonly link: number;
  /** Attributes of the next hop, such as its gateway. */
  readonly route: readonly Attribute[];
}

function parseNextHops(value: Buffer): readonly NextHop[] {
  const hops: NextHop[] = [];
  for (let at = 0; value.length - at >= nextHopBytes;) {
    const length = readU16(value, at);
    if (length < nextHopBytes) throw malformed(`next hop of ${length} bytes`);
    const route = parseAttributes(value.subarray(at + nextHopBytes, at + length));
    hops.push({ link: readU32(value, at + 4), route });
    at += (length + 3) & ~3;
  }
  return hops;
}
