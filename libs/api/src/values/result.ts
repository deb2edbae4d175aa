// SPDX-License-Identifier: Apache-2.0
/**
 * The outcome of something that may be refused for a reason the caller is expected to handle.
 * Usage: `const range = parseVfRange(text); if (!range.ok) return report(range.error);`
 */

/** Either a value or the reason there is none. Expected outcomes are values; bugs throw. */
export type Result<Value, Problem> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: Problem };

export function ok<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

export function err<Problem>(error: Problem): { readonly ok: false; readonly error: Problem } {
  return { ok: false, error };
}
