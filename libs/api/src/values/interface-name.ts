// SPDX-License-Identifier: Apache-2.0
/**
 * isInterfaceName checks names of network interfaces from the API, which become parts of paths and lists.
 * Usage: `isInterfaceName("ens1f0")`.
 */

/** As the kernel checks names (dev_valid_name, net/core/dev.c), and only printable ASCII characters. */
export function isInterfaceName(text: string): boolean {
  return /^[!-.0-9;-~]{1,15}$/.test(text) && text !== "." && text !== "..";
}
