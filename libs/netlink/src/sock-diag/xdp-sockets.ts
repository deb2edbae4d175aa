// SPDX-License-Identifier: Apache-2.0
/**
 * listXdpSockets lists the AF_XDP sockets of a network namespace that are bound to an interface (linux/sock_diag.h,
 * linux/xdp_diag.h). A socket can only be bound to an interface of the network namespace in which it was opened, and loses the
 * interface when that moves to another one.
 * Usage: `await using socket = new NetlinkSocket({ protocol: protocols.sockDiag }); await listXdpSockets(socket)`.
 */
import { malformed } from "../netlink-error.ts";
import type { NetlinkSocket } from "../netlink-socket.ts";
import { find, parseAttributes, readU32 } from "../wire/attributes.ts";

/** An AF_XDP socket that is bound to a queue of an interface. */
export interface BoundXdpSocket {
  /** Index of the interface. */
  readonly index: number;
  readonly queue: number;
}

const byFamily = 20; // SOCK_DIAG_BY_FAMILY
const afXdp = 44;
const showInfo = 1; // XDP_SHOW_INFO
const infoType = 1; // XDP_DIAG_INFO
const requestBytes = 20; // u8 family, u8 protocol, u16 padding, u32 inode, u32 what to show, u32 cookie[2]
const answerBytes = 16; // u8 family, u8 type, u16 padding, u32 inode, u32 cookie[2]

/**
 * `ss --xdp`. Rejects with NetlinkError: ENOENT if neither the kernel nor a module that it can load (xsk_diag) lists these sockets,
 * or if the kernel has no AF_XDP sockets.
 */
export async function listXdpSockets(socket: NetlinkSocket): Promise<readonly BoundXdpSocket[]> {
  const payload = Buffer.alloc(requestBytes);
  payload.writeUInt8(afXdp, 0);
  payload.writeUInt32LE(showInfo, 8);
  const answers = await socket.dump({ tried: "list AF_XDP sockets", type: byFamily, payload });
  return answers.map(({ type, payload: answer }) => parse(type, answer)).filter(({ index }) => index !== 0);
}

/** The index is 0 for a socket that is not bound. */
function parse(type: number, answer: Buffer): BoundXdpSocket {
  if (type !== byFamily || answer.length < answerBytes || answer[0] !== afXdp)
    throw malformed(`description of an AF_XDP socket of ${answer.length} bytes`);
  const info = find(parseAttributes(answer.subarray(answerBytes)), infoType); // u32 interface, u32 queue
  if (info === undefined) throw malformed("AF_XDP socket without its interface");
  return { index: readU32(info), queue: readU32(info, 4) };
}
