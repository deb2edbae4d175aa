// SPDX-License-Identifier: Apache-2.0
/**
 * isDeviceName and isPoolName check names from the API, which become parts of paths and environment variables.
 * Usage: `isDeviceName("ens1f0")`.
 */

/** As the kernel checks names (dev_valid_name, net/core/dev.c), and without characters that are special in paths or lists. */
export function isDeviceName(text: string): boolean {
  return /^[!-.0-9;-~]+$/.test(text) && Buffer.byteLength(text) <= 15 && text !== "." && text !== "..";
}

/** As the API restricts the names of pools. */
export function isPoolName(text: string): boolean {
  return /^[a-zA-Z0-9]{1,20}$/.test(text);
}
