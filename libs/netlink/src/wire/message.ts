// SPDX-License-Identifier: Apache-2.0
/**
 * Netlink messages (struct nlmsghdr): u32 length with the header's 16 bytes, u16 type, u16 flags, u32 sequence, u32 port.
 * Usage: `for (const message of parseMessages(datagram)) ...`.
 */
import { malformed } from "../netlink-error.ts";
import { aligned, find, parseAttributes, readText } from "./attributes.ts";

/** One message as received. */
export interface Message {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  /** What follows the header: a family's own header and attributes. */
  readonly payload: Buffer;
}

/** The kernel's verdict, that ends a request or a dump. */
export interface Verdict {
  /** 0 for success, else a positive errno. */
  readonly errno: number;
  /** Extended ack: "mtu greater than device maximum". */
  readonly words?: string;
}

/** NLM_F_*: the flags that we send or look for. */
export const messageFlags = { request: 0x1, ack: 0x4, dump: 0x300, create: 0x600, dumpInterrupted: 0x10 } as const;

const headerBytes = 16;
const messageTypes = { error: 2, done: 3 };
const verdictFlags = { capped: 0x100, attributes: 0x200 };
const verdictText = 1; // NLMSGERR_ATTR_MSG

/** A message to send; the kernel fills in the port. */
export function encodeMessage(header: Omit<Message, "payload">, payload: Buffer): Buffer {
  const message = Buffer.alloc(headerBytes + aligned(payload.length));
  message.writeUInt32LE(headerBytes + payload.length, 0);
  message.writeUInt16LE(header.type, 4);
  message.writeUInt16LE(header.flags, 6);
  message.writeUInt32LE(header.sequence, 8);
  payload.copy(message, headerBytes);
  return message;
}

/** All messages of a datagram. Throws NetlinkError "malformed". */
export function parseMessages(datagram: Buffer): readonly Message[] {
  const messages: Message[] = [];
  for (let at = 0; datagram.length - at > 0;) {
    const left = datagram.length - at;
    const length = left < headerBytes ? 0 : datagram.readUInt32LE(at);
    if (length < headerBytes || length > left) throw malformed(`message of ${length} bytes where ${left} are left`);
    messages.push({
      type: datagram.readUInt16LE(at + 4),
      flags: datagram.readUInt16LE(at + 6),
      sequence: datagram.readUInt32LE(at + 8),
      payload: datagram.subarray(at + headerBytes, at + length),
    });
    at += aligned(length);
  }
  return messages;
}

/** The verdict, where the message is one (NLMSG_ERROR, NLMSG_DONE). Throws NetlinkError "malformed". */
export function parseVerdict({ type, flags, payload }: Message): Verdict | undefined {
  if (type !== messageTypes.error && type !== messageTypes.done) return undefined;
  if (payload.length < 4) throw malformed(`verdict of ${payload.length} bytes`);
  const errno = 0 - payload.readInt32LE(0);
  if (errno < 0) throw malformed(`error number ${0 - errno}`);
  if ((flags & verdictFlags.attributes) === 0) return { errno };

  const attributes = parseAttributes(payload.subarray(type === messageTypes.done ? 4 : echoEnd(flags, payload)));
  const words = find(attributes, verdictText);
  return words === undefined ? { errno } : { errno, words: readText(words) };
}

/** An error repeats the refused request before its attributes: the header alone where it is capped. */
function echoEnd(flags: number, payload: Buffer): number {
  if (payload.length < 4 + headerBytes) throw malformed(`error of ${payload.length} bytes`);
  const echoed = (flags & verdictFlags.capped) === 0 ? payload.readUInt32LE(4) : headerBytes;
  return 4 + aligned(echoed);
}
