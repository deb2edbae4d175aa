// SPDX-License-Identifier: Apache-2.0
/**
 * Times with microseconds (metav1.MicroTime), which Leases and Events have.
 * Usage: `microTime(new Date())` is "2026-11-20T12:34:56.789000Z".
 */

/** RFC 3339: the milliseconds of `date`, then `micros`, of which three digits are used. */
export function microTime(date: Date, micros = 0): string {
  return date.toISOString().replace("Z", `${`${micros % 1000}`.padStart(3, "0")}Z`);
}
