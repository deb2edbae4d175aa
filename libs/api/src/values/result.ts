// SPDX-License-Identifier: Apache-2.0
/**
 * Result is the return type of functions that can fail for a reason that the caller must handle. Functions throw only
 * for bugs.
 * Usage: `const result: Result<number, string> = ok(1);`
 */

/** Either a value or the reason why there is no value. */
export type Result<Value, Problem> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: Problem };

/** Returns a successful result. */
export function ok<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

/** Returns a failed result. */
export function err<Problem>(error: Problem): { readonly ok: false; readonly error: Problem } {
  return { ok: false, error };
}
