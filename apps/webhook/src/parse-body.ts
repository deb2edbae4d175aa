// SPDX-License-Identifier: Apache-2.0
/**
 * The JSON of a request's body. It comes from whoever reaches the port: its nesting is bounded before it is parsed, so that
 * nothing which walks over it can run out of stack. A key `__proto__` becomes a key like any other, which a rule refuses where
 * it matters.
 * Usage: `const body = parseBody(bytes); if (!body.ok) return reply.code(400).send({ message: body.error })`.
 */
import { err, ok, type Result } from "@switchyard/api";

/** Our kinds nest ten levels, the review around them three. */
const deepest = 64;

/** The error says what is wrong, for whoever sent it. */
export function parseBody(body: Buffer): Result<unknown, string> {
  if (isDeeper(body, deepest)) return err(`the body is nested more than ${deepest} levels deep`);
  try {
    return ok(JSON.parse(body.toString("utf8")));
  } catch {
    return err(body.length === 0 ? "the body is empty" : "the body is no JSON, or it ends early");
  }
}

/** Counts brackets outside of strings; of what is no JSON it says anything. */
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
