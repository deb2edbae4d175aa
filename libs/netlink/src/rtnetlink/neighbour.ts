// SPDX-License-Identifier: Apache-2.0
/**
 * askNeighbour and readNeighbour find out whether a host on the link of an interface answers (ARP, neighbour discovery), without a
 * packet that a firewall could drop. struct ndmsg has u8 family, 3 bytes of padding, i32 interface, u16 state, u8 flags and u8 type.
 * Attributes NDA_* follow (linux/neighbour.h).
 */
import { NetlinkError } from "../netlink-error.ts";
import type { NetlinkSocket } from "../netlink-socket.ts";
import { bytes, find, parseAttributes, readU16, readU32, u32 } from "../wire/attributes.ts";
import { parseIpAddress } from "../wire/ip-address.ts";

/**
 * "unknown": the kernel has no entry. "asking": it waits for an answer. "reachable": an answer came lately. "stale": one came once.
 * "failed": none came. "fixed": an administrator, or an interface without ARP, decides about the entry.
 */
export type NeighbourState = "unknown" | "asking" | "reachable" | "stale" | "failed" | "fixed";

/** A host on the link of an interface. */
export interface Neighbour {
  /** Index of the interface. */
  readonly link: number;
  /** "192.0.2.254" or "fe80::1". */
  readonly address: string;
}

const messageTypes = { newNeighbour: 28, getNeighbour: 30 };
const attributes = { destination: 1, interface: 8 };
const families = { ipv4: 2, ipv6: 10 };
const headerBytes = 12;
const flagUse = 0x01; // NTF_USE: look the address up, as a packet would
const nud = {
  incomplete: 0x01,
  reachable: 0x02,
  stale: 0x04,
  delay: 0x08,
  probe: 0x10,
  failed: 0x20,
  noArp: 0x40,
  permanent: 0x80,
};

/** Rejects with NetlinkError; EINVAL if `address` is not an IP address. */
export async function readNeighbour(socket: NetlinkSocket, { link, address }: Neighbour): Promise<NeighbourState> {
  const tried = `read neighbour ${address}`;
  const wanted = parsed(tried, address);
  // The kernel leaves out the neighbours of other interfaces.
  const request = Buffer.concat([encodeHeader({ wanted, link: 0 }), u32(attributes.interface, link)]);
  const messages = await socket.dump({ tried, type: messageTypes.getNeighbour, payload: request });
  for (const { type, payload } of messages) {
    if (type !== messageTypes.newNeighbour || payload.length < headerBytes || readU32(payload, 4) !== link) continue;
    const destination = find(parseAttributes(payload.subarray(headerBytes)), attributes.destination);
    if (destination?.equals(wanted) === true) return stateOf(readU16(payload, 8));
  }
  return "unknown";
}

/**
 * Makes the kernel ask the neighbour now, also if it has answered lately. The state is "asking" until an answer comes, or none has come
 * for seconds. Changes nothing for a "fixed" neighbour. Rejects with NetlinkError; ENODEV without such an interface.
 */
export async function askNeighbour(socket: NetlinkSocket, neighbour: Neighbour): Promise<void> {
  const { link, address } = neighbour;
  const tried = `ask neighbour ${address}`;
  const wanted = parsed(tried, address);
  const state = await readNeighbour(socket, neighbour);
  if (state === "fixed") return;
  const isKnown = state === "reachable" || state === "stale";
  const header = encodeHeader(isKnown ? { wanted, link, state: nud.probe } : { wanted, link, flags: flagUse });
  const payload = Buffer.concat([header, bytes(attributes.destination, wanted)]);
  try {
    await socket.request({ tried, type: messageTypes.newNeighbour, payload, creates: state === "unknown" });
  } catch (error) {
    // EEXIST: a packet has made the kernel ask meanwhile. EINVAL, ENOENT: the entry has changed or ended meanwhile.
    if (!(error instanceof NetlinkError && ["EEXIST", "EINVAL", "ENOENT"].includes(error.code))) throw error;
  }
}

function parsed(tried: string, address: string): Buffer {
  const wanted = parseIpAddress(address);
  if (wanted === undefined) throw new NetlinkError(tried, "EINVAL", `${JSON.stringify(address)} is not an IP address`);
  return wanted;
}

function stateOf(state: number): NeighbourState {
  if ((state & (nud.noArp | nud.permanent)) !== 0) return "fixed";
  if ((state & nud.reachable) !== 0) return "reachable";
  if ((state & nud.failed) !== 0) return "failed";
  if ((state & (nud.incomplete | nud.probe)) !== 0) return "asking";
  return (state & (nud.stale | nud.delay)) !== 0 ? "stale" : "unknown";
}

interface NeighbourHeader {
  readonly wanted: Buffer;
  readonly link: number;
  readonly state?: number;
  readonly flags?: number;
}

function encodeHeader({ wanted, link, state = 0, flags = 0 }: NeighbourHeader): Buffer {
  const header = Buffer.alloc(headerBytes);
  header[0] = wanted.length === 4 ? families.ipv4 : families.ipv6;
  header.writeInt32LE(link, 4);
  header.writeUInt16LE(state, 8);
  header[10] = flags;
  return header;
}
