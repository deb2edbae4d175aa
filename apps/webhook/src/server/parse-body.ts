// SPDX-License-Identifier: Apache-2.0
/**
 * parseBody parses the JSON of a request's body. Anyone who can connect to the port can send one, so its nesting is limited
 * before it is parsed: recursive functions must not run out of stack. A key `__proto__` is parsed like any other key; a rule
 * of admission refuses it.
 */
import { err, ok, type Result } from "@switchyard/api";

/** Switchyard's kinds have ten levels, and the review around them three. */
const maxDepth = 64;

/** The error is a message for the client. */
export function parseBody(body: Buffer): Result<unknown, string> {
  if (isDeeper(body, maxDepth)) return err(`the body has more than ${maxDepth} levels of nesting`);
  try {
    return ok(JSON.parse(body.toString("utf8")));
  } catch {
    return err(body.length === 0 ? "the body is empty" : "the body is not valid JSON");
  }
}

/** Counts brackets outside of strings. The result is meaningless if the body is not JSON. */
function isDeeper(body: Buffer, levels: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (inString) {
      if (byte === backslash) at++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) {
      inString = true;
    } else if (byte === openBracket || byte === openBrace) {
      if (++depth > levels) return true;
    } else if (byte === closeBracket || byte === closeBrace) {
      depth--;
    }
  }
  return false;
}

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"\\[]{}');
