// SPDX-License-Identifier: Apache-2.0
/**
 * Guid is an InfiniBand GUID: eight bytes in lower-case hexadecimal, separated by colons.
 * Usage: `parseGuid("02:00:00:00:00:00:00:01")`.
 */
import { err, ok, type Result } from "./result.ts";

declare const guid: unique symbol;

/** A GUID of the form "02:00:00:00:00:00:00:01", not all zeros and not all ones. Only parseGuid can create one. */
export type Guid = string & { readonly [guid]: true };

/** Why `text` is not a GUID. */
export interface GuidProblem {
  readonly code: "malformed";
  readonly text: string;
}

/** Parses eight bytes. Upper-case digits are converted to lower case. */
export function parseGuid(text: string): Result<Guid, GuidProblem> {
  const lower = text.toLowerCase();
  return isGuid(lower) ? ok(lower) : err({ code: "malformed", text });
}

function isGuid(text: string): text is Guid {
  return /^(?!(?:00:?){8}$)(?!(?:ff:?){8}$)[0-9a-f]{2}(?::[0-9a-f]{2}){7}$/.test(text);
}
