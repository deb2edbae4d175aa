// SPDX-License-Identifier: Apache-2.0
/**
 * The frames and messages of ttrpc (the protocol description and request.proto of github.com/containerd/ttrpc). The header of a frame has
 * 10 bytes. It begins with the length of the message and the id of the stream, each 4 bytes in network order. Type and flags follow, one
 * byte each.
 * NRI has unary calls only: a request, and a response on the same stream.
 * Usage: `const frame = encodeResponse(1, { payload: Buffer.alloc(0) });`
 */
import { MessageWriter, readMessage } from "@switchyard/kubelet";
import { NriError } from "../nri-error.ts";
import { createFrameSplitter, type Frame } from "./frame-splitter.ts";

const headerLength = 10;
const maxMessageLength = 4 << 20;

/** Length of the longest frame in bytes. */
export const maxTtrpcFrameLength = headerLength + maxMessageLength;

/** Types of messages. Streams have a third one, data, which NRI does not use. */
const messageTypes = { request: 1, response: 2 } as const;

/** Codes of google.golang.org/grpc/codes. */
export const statusCodes = { ok: 0, unknown: 2, invalidArgument: 3, deadlineExceeded: 4, unimplemented: 12 } as const;

export interface TtrpcRequest {
  /** "nri.pkg.api.v1alpha1.Plugin". */
  readonly service: string;
  readonly method: string;
  readonly payload: Buffer;
  /** Time that the caller waits for the response, in ms; 0 if it does not say. */
  readonly timeoutMs: number;
}

/** A response has a payload, or the code and the message of an error. */
export interface TtrpcResponse {
  readonly payload: Buffer;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A response can be shown to people, so its error is cut. */
const maxErrorLength = 1_000;

export function encodeRequest(stream: number, { service, method, payload, timeoutMs }: TtrpcRequest): Buffer {
  const message = new MessageWriter()
    .text(1, service)
    .text(2, method)
    .bytes(3, payload)
    .number(4, timeoutMs * 1e6);
  return encodeFrame(stream, messageTypes.request, message.finish());
}

export function encodeResponse(stream: number, { payload, error }: TtrpcResponse): Buffer {
  const message = new MessageWriter();
  if (error !== undefined) {
    message.message(1, new MessageWriter().number(1, error.code).text(2, error.message.slice(0, maxErrorLength)));
  }
  return encodeFrame(stream, messageTypes.response, message.bytes(2, payload).finish());
}

function encodeFrame(stream: number, type: number, message: Buffer): Buffer {
  const header = Buffer.alloc(headerLength);
  header.writeUInt32BE(message.length, 0);
  header.writeUInt32BE(stream, 4);
  header.writeUInt8(type, 8);
  return Buffer.concat([header, message]);
}

/**
 * receiveRequests returns a function that takes the bytes of a connection and calls `receive` with each request. It throws NriError
 * TOO_LONG, or MALFORMED for a frame that is no request, and for the id of a stream that is even or was used.
 */
export function receiveRequests(receive: (stream: number, message: Buffer) => void): (bytes: Buffer) => void {
  let last = 0;
  return receiveFrames(messageTypes.request, (stream, message) => {
    // Clients have odd ids, which increase.
    if (stream % 2 !== 1 || stream <= last) {
      throw new NriError("MALFORMED", "the container runtime has sent a request with a wrong id of the stream");
    }
    last = stream;
    receive(stream, message);
  });
}

/** As receiveRequests. Which streams exist is known to the caller. */
export function receiveResponses(receive: (stream: number, message: Buffer) => void): (bytes: Buffer) => void {
  return receiveFrames(messageTypes.response, receive);
}

function receiveFrames(expected: number, receive: (stream: number, message: Buffer) => void) {
  const split = createFrameSplitter({ headerLength, lengthAt: 0, maxBodyLength: maxMessageLength });
  return (bytes: Buffer): void => {
    for (const { header, body } of split(bytes)) receive(streamOf({ header, body }, expected), body);
  };
}

function streamOf({ header }: Frame, expected: number): number {
  if (header.readUInt8(8) !== expected) {
    throw new NriError("MALFORMED", "the container runtime has sent a frame of a type that does not belong there");
  }
  return header.readUInt32BE(4);
}

/** Throws NriError MALFORMED_PAYLOAD. */
export function decodeRequest(message: Buffer): TtrpcRequest {
  return decoding(message, ({ text, bytes, number }) => ({
    service: text(1),
    method: text(2),
    payload: bytes(3),
    timeoutMs: Math.floor(number(4) / 1e6),
  }));
}

/** Throws NriError MALFORMED_PAYLOAD. */
export function decodeResponse(message: Buffer): TtrpcResponse {
  return decoding(message, ({ messages, bytes }) => {
    const status = messages(1).at(-1);
    const code = status?.number(1) ?? statusCodes.ok;
    const payload = bytes(2);
    return code === statusCodes.ok ? { payload } : { payload, error: { code, message: status?.text(2) ?? "" } };
  });
}

/** Decodes a message. Throws NriError MALFORMED_PAYLOAD. */
export function decoding<Message>(bytes: Buffer, decode: (reader: ReturnType<typeof readMessage>) => Message): Message {
  try {
    return decode(readMessage(bytes));
  } catch (cause) {
    throw new NriError("MALFORMED_PAYLOAD", "the container runtime has sent a malformed message", { cause });
  }
}
