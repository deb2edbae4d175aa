// SPDX-License-Identifier: Apache-2.0
/**
 * parseCount parses a whole number on a command line.
 * Usage: `parseCount("--nodes", "1000", { minimum: 1, maximum: 65536 })`
 */
import { BenchError } from "./bench-error.ts";

/** Returns a number from `minimum` to `maximum`. Throws BenchError `usage`. */
export function parseCount(
  flag: string,
  text: string,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  throw new BenchError("usage", `${flag} must be a whole number from ${minimum} to ${maximum}, not "${text}"`);
}
