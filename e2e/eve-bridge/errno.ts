// SPDX-License-Identifier: Apache-2.0
/**
 * Node's errors, known by their code.
 * Usage: `if (errnoOf(error) === "ENOENT") …`.
 */

/** ENOENT and the like. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
