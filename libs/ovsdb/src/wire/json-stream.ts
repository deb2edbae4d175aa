// SPDX-License-Identifier: Apache-2.0
/**
 * JsonStream splits a byte stream into JSON objects. OVSDB sends JSON-RPC messages back to back, without a length or a
 * delimiter (RFC 7047, 4), so the end of a message is the brace that closes it. A chunk may end anywhere, also within a
 * UTF-8 sequence.
 */
import { OvsdbError } from "../ovsdb-error.ts";

const quote = 0x22;
const backslash = 0x5c;
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Messages of OVSDB have less than ten levels. Deeper values would end functions that call themselves, such as JSON.stringify. */
const maxDepth = 64;

/** Tab, line feed, carriage return and blank: what JSON allows between messages. */
const isWhitespace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export class JsonStream {
  readonly #maxMessageBytes: number;
  /** The chunks of the message that is not complete yet. */
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  /** @param maxMessageBytes A longer message is an error, so a broken server cannot exhaust the memory. */
  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** The messages that end in `chunk`. Throws OvsdbError `protocol`, after which the stream cannot be used any more. */
  push(chunk: Uint8Array): unknown[] {
    const messages: unknown[] = [];
    let start = 0; // of the current message within `chunk`
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#inString = false;
      } else if (this.#depth === 0 && byte !== openBrace) {
        if (!isWhitespace(byte ?? 0)) throw notAnObject(byte ?? 0);
        start = at + 1;
      } else if (byte === quote) {
        this.#inString = true;
      } else if (byte === openBrace || byte === openBracket) {
        if (++this.#depth > maxDepth) throw tooDeep();
      } else if ((byte === closeBrace || byte === closeBracket) && --this.#depth === 0) {
        messages.push(this.#parse(chunk.subarray(start, at + 1)));
        start = at + 1;
      }
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return messages;
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxMessageBytes) throw tooLong(this.#maxMessageBytes);
    this.#parts.push(part);
  }

  #parse(last: Uint8Array): unknown {
    this.#keep(last);
    const bytes =
      this.#parts.length === 1 ? Buffer.from(last.buffer, last.byteOffset, last.length) : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    try {
      return JSON.parse(bytes.toString("utf8"));
    } catch {
      // Without the cause, whose message quotes what was sent.
      throw new OvsdbError("protocol", `the server sent a message of ${bytes.length} bytes that is not JSON`);
    }
  }
}

function notAnObject(byte: number): OvsdbError {
  const shown = byte >= 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte ${byte}`;
  return new OvsdbError("protocol", `the server sent ${shown} where a JSON object must start`);
}

function tooDeep(): OvsdbError {
  return new OvsdbError("protocol", `the server sent a message with more than ${maxDepth} levels`);
}

function tooLong(limit: number): OvsdbError {
  return new OvsdbError("protocol", `the server sent a message of more than ${limit} bytes`);
}
