// SPDX-License-Identifier: Apache-2.0
/**
 * isPoolName checks names of pools from the API, which become parts of environment variables.
 * Usage: `isPoolName("intel")`.
 */

/** As the API restricts the names of pools. */
export function isPoolName(text: string): boolean {
  return /^[a-zA-Z0-9]{1,20}$/.test(text);
}
