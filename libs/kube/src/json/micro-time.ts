// SPDX-License-Identifier: Apache-2.0
/**
 * microTime renders times with microseconds (metav1.MicroTime) for Leases and Events.
 * Usage: `microTime(new Date())`, such as "2026-11-20T12:34:56.789000Z".
 */

/** Returns `date` in RFC 3339, with the last three digits of `micros` after its milliseconds. */
export function microTime(date: Date, micros = 0): string {
  return date.toISOString().replace("Z", `${`${micros % 1000}`.padStart(3, "0")}Z`);
}
