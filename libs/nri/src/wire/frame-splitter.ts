// SPDX-License-Identifier: Apache-2.0
/**
 * createFrameSplitter cuts a stream of bytes into frames that consist of a header of fixed length and a body, whose length is in the header.
 * Both protocols of NRI have such frames: the multiplexer, and ttrpc within each of its connections.
 */
import { NriError } from "../nri-error.ts";

export interface FrameLayout {
  readonly headerLength: number;
  /** Offset in the header of the length of the body, 4 bytes in network order. */
  readonly lengthAt: number;
  /** The longest body in bytes. */
  readonly maxBodyLength: number;
}

export interface Frame {
  readonly header: Buffer;
  readonly body: Buffer;
}

/** Takes the next bytes of the stream, and returns the frames that are complete. Throws NriError TOO_LONG. */
export type FrameSplitter = (bytes: Buffer) => readonly Frame[];

/** A frame that is too long is refused as soon as its header is there. What is kept is never longer than one frame and the last bytes. */
export function createFrameSplitter({ headerLength, lengthAt, maxBodyLength }: FrameLayout): FrameSplitter {
  let chunks: Buffer[] = [];
  let length = 0;
  let needed = headerLength;

  return (bytes) => {
    chunks.push(bytes);
    length += bytes.length;
    const frames: Frame[] = [];
    while (length >= needed) {
      const all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
      const bodyLength = all.readUInt32BE(lengthAt);
      if (bodyLength > maxBodyLength) {
        throw new NriError(
          "TOO_LONG",
          `the container runtime has sent a frame with more than ${maxBodyLength.toString()} bytes`,
        );
      }
      const end = headerLength + bodyLength;
      if (length >= end) {
        frames.push({ header: all.subarray(0, headerLength), body: all.subarray(headerLength, end) });
        chunks = [all.subarray(end)];
        length -= end;
        needed = headerLength;
      } else {
        chunks = [all];
        needed = end;
      }
    }
    return frames;
  };
}
