// SPDX-License-Identifier: Apache-2.0
/**
 * encodeMessage, parseMessages and parseAck write and read netlink messages (struct nlmsghdr): u32 length with the 16 bytes
 * of the header, u16 type, u16 flags, u32 sequence, u32 port.
 */
import { malformed } from "../netlink-error.ts";
import { aligned, find, parseAttributes, readText } from "./attributes.ts";

/** A received message. */
export interface Message {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  /** Content after the header: the header of the family and attributes. */
  readonly payload: Buffer;
}

/** The end of a request or a dump, with its result. */
export interface Ack {
  /** 0 for success, otherwise a positive errno. */
  readonly errno: number;
  /** Message of the kernel (extended ack): "mtu greater than device maximum". */
  readonly words?: string;
}

/** NLM_F_*: the flags in use. */
export const messageFlags = { request: 0x1, ack: 0x4, dump: 0x300, create: 0x600, dumpInterrupted: 0x10 } as const;

const headerBytes = 16;
const messageTypes = { error: 2, done: 3 };
const ackFlags = { capped: 0x100, attributes: 0x200 };
const ackText = 1; // NLMSGERR_ATTR_MSG

/** Returns a message to send. The kernel sets the port. */
export function encodeMessage(header: Omit<Message, "payload">, payload: Buffer): Buffer {
  const message = Buffer.alloc(headerBytes + aligned(payload.length));
  message.writeUInt32LE(headerBytes + payload.length, 0);
  message.writeUInt16LE(header.type, 4);
  message.writeUInt16LE(header.flags, 6);
  message.writeUInt32LE(header.sequence, 8);
  payload.copy(message, headerBytes);
  return message;
}

/** Parses all messages of a datagram. Throws NetlinkError "malformed". */
export function parseMessages(datagram: Buffer): readonly Message[] {
  const messages: Message[] = [];
  for (let at = 0; datagram.length - at > 0;) {
    const left = datagram.length - at;
    const length = left < headerBytes ? 0 : datagram.readUInt32LE(at);
    if (length < headerBytes || length > left) throw malformed(`message of ${length} bytes, only ${left} bytes left`);
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

/** Parses NLMSG_ERROR and NLMSG_DONE; returns undefined for other messages. Throws NetlinkError "malformed". */
export function parseAck({ type, flags, payload }: Message): Ack | undefined {
  if (type !== messageTypes.error && type !== messageTypes.done) return undefined;
  // The list of resources of devlink ends without a result (devlink_resource_fill, 6.12).
  if (type === messageTypes.done && payload.length === 0) return { errno: 0 };
  if (payload.length < 4) throw malformed(`ack of ${payload.length} bytes`);
  const errno = 0 - payload.readInt32LE(0);
  if (errno < 0) throw malformed(`ack with positive error number ${0 - errno}`);
  if ((flags & ackFlags.attributes) === 0) return { errno };

  const attributes = parseAttributes(payload.subarray(type === messageTypes.done ? 4 : echoEnd(flags, payload)));
  const words = find(attributes, ackText);
  return words === undefined ? { errno } : { errno, words: readText(words) };
}

/** An error repeats the request before its attributes; only the header if it is capped. */
function echoEnd(flags: number, payload: Buffer): number {
  if (payload.length < 4 + headerBytes) throw malformed(`error of ${payload.length} bytes`);
  const echoed = (flags & ackFlags.capped) === 0 ? payload.readUInt32LE(4) : headerBytes;
  return 4 + aligned(echoed);
}
