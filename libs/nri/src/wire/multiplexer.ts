// SPDX-License-Identifier: Apache-2.0
/**
 * The multiplexer of NRI: two connections over one Unix socket, because both sides call each other (github.com/containerd/nri, package
 * pkg/net/multiplex). A frame has a header of 8 bytes: the id of the connection, and the length of the body, each 4 bytes in network order.
 * A frame has a part of the bytes of its connection, not always a whole message.
 */
import { NriError } from "../nri-error.ts";
import { createFrameSplitter } from "./frame-splitter.ts";
import { maxTtrpcFrameLength } from "./ttrpc.ts";

/** Ids of the connections. The runtime calls the plugin on the first, and the plugin the runtime on the second. */
export const connectionIds = { plugin: 1, runtime: 2 } as const;

const headerLength = 8;

/**
 * Longest body that is sent, in bytes. The runtime reads each frame into the buffer of ttrpc's reader, which has 4096 bytes, and closes the
 * connection if a frame does not fit (nri 0.12.0: ENOMEM).
 */
const maxSentLength = 4096;

/** Returns the frames with these bytes for a connection. */
export function encodeMultiplexed(connection: number, bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += maxSentLength) {
    const body = bytes.subarray(at, at + maxSentLength);
    const header = Buffer.alloc(headerLength);
    header.writeUInt32BE(connection, 0);
    header.writeUInt32BE(body.length, 4);
    parts.push(header, body);
  }
  return Buffer.concat(parts);
}

/**
 * createDemultiplexer gives the bytes of each connection to its receiver, by the id of the connection. The returned function takes the next
 * bytes of the socket. It throws NriError TOO_LONG or UNKNOWN_STREAM, and what the receivers throw.
 */
export function createDemultiplexer(receivers: ReadonlyMap<number, (bytes: Buffer) => void>): (bytes: Buffer) => void {
  const split = createFrameSplitter({ headerLength, lengthAt: 4, maxBodyLength: maxTtrpcFrameLength });
  return (bytes) => {
    for (const { header, body } of split(bytes)) {
      const receive = receivers.get(header.readUInt32BE(0));
      if (receive === undefined) {
        throw new NriError("UNKNOWN_STREAM", "the container runtime has used a connection that does not exist");
      }
      receive(body);
    }
  };
}
