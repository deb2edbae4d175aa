// SPDX-License-Identifier: Apache-2.0
/**
 * FrameReader splits a byte stream into JSON objects. JSON-RPC 1.0 over a socket has no framing: an object ends where its
 * outermost brace closes (eve-and-afxdp.md a5).
 */
import { CniError, cniCode } from "../request/cni-error.ts";
import { parseJson, type JsonValue } from "../request/json.ts";

/** Collects bytes until an object is complete. */
export interface FrameReader {
  /**
   * The objects that `chunk` completes, in order. Throws code 101 for invalid JSON and for an object that is too long.
   */
  push(chunk: Buffer): JsonValue[];
}

const [space, tab, newline, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d];
const [quote, backslash] = [0x22, 0x5c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Searches for the braces in the undecoded bytes, because a multi-byte character of UTF-8 contains no ASCII byte. */
export function createFrameReader(maxBytes: number): FrameReader {
  let pending: Buffer = Buffer.alloc(0); // empty, or starts with the opening brace of an object
  let buffer: Buffer = pending; // has `pending` at its used end, and room after it
  let used = 0;
  let scanned = 0;
  let depth = 0;
  let inString = false;

  return {
    push(chunk) {
      const objects: JsonValue[] = [];
      append(chunk);
      for (;;) {
        if (depth === 0) {
          pending = skipBlanks(pending);
          scanned = 0;
          if (pending.length === 0) return objects;
          if (pending[0] !== openBrace) throw garbage(pending);
        }
        const end = findEnd();
        if (end === undefined) {
          if (pending.length > maxBytes)
            throw new CniError(cniCode.protocol, `zedrouter's answer is longer than ${maxBytes} bytes`);
          return objects;
        }
        objects.push(decode(pending.subarray(0, end)));
        pending = pending.subarray(end);
      }
    },
  };

  /** Copies what is pending only when the room is used up: a copy for each chunk takes quadratic time. */
  function append(chunk: Buffer): void {
    if (used + chunk.length > buffer.length) {
      buffer = Buffer.alloc(2 * (pending.length + chunk.length));
      used = pending.copy(buffer);
    }
    const start = used - pending.length;
    used += chunk.copy(buffer, used);
    pending = buffer.subarray(start, used);
  }

  /** The index after the outermost closing brace; undefined while it is not there. */
  function findEnd(): number | undefined {
    while (scanned < pending.length) {
      const byte = pending[scanned++];
      if (inString) {
        if (byte === backslash) {
          if (scanned === pending.length) {
            scanned--; // the escaped byte comes with the next chunk
            return undefined;
          }
          scanned++;
        } else if (byte === quote) inString = false;
      } else if (byte === quote) inString = true;
      else if (byte === openBrace || byte === openBracket) depth++;
      else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return scanned;
    }
    return undefined;
  }
}

function skipBlanks(bytes: Buffer): Buffer {
  const start = bytes.findIndex(
    (byte) => byte !== space && byte !== newline && byte !== tab && byte !== carriageReturn,
  );
  return start < 0 ? Buffer.alloc(0) : bytes.subarray(start);
}

function decode(bytes: Buffer): JsonValue {
  try {
    return parseJson(bytes.toString("utf8"));
  } catch {
    throw garbage(bytes);
  }
}

function garbage(bytes: Buffer): CniError {
  const details = JSON.stringify(bytes.subarray(0, 80).toString("latin1"));
  return new CniError(cniCode.protocol, "zedrouter's answer is not JSON", { details });
}
