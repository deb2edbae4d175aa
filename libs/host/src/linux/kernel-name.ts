// SPDX-License-Identifier: Apache-2.0
/**
 * Names of drivers and modules before they become part of a path or an argument of modprobe: where they come from, the
 * adapters do not know.
 * Usage: `checkKernelName(driver)` at the start of a verb.
 */
import { HostError } from "../calls/host-error.ts";

/** The kernel's own limit is 55 on 64-bit machines (MODULE_NAME_LEN less its NUL, 6.12). */
const name = /^[\w-]{1,55}$/;

/** Throws HostError EINVAL, which names the value, unless it can be the name of a driver or module. */
export function checkKernelName(value: string): void {
  if (name.test(value)) return;
  const shown = JSON.stringify(value.slice(0, 64));
  throw new HostError({ tried: "use it as the name of a driver or module", target: shown }, "EINVAL", {});
}
