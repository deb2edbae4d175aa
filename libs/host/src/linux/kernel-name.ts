// SPDX-License-Identifier: Apache-2.0
/**
 * checkKernelName validates the name of a driver or module before it becomes part of a path or an argument of modprobe. The
 * adapters do not know where the name comes from.
 * Usage: `checkKernelName(driver)` at the start of a verb.
 */
import { HostError } from "../calls/host-error.ts";

/** The kernel limits module names to 55 characters on 64-bit machines (MODULE_NAME_LEN without its NUL, 6.12). */
const name = /^[\w-]{1,55}$/;

/** Throws HostError EINVAL if the value cannot be the name of a driver or module. The message contains the value. */
export function checkKernelName(value: string): void {
  if (name.test(value)) return;
  const shown = JSON.stringify(value.slice(0, 64));
  throw new HostError({ action: "look up driver or module", target: shown }, "EINVAL", {});
}

/** "vdpa:0000:3b:00.2". */
const vdpaName = /^[A-Za-z0-9][\w:.-]{0,63}$/;

/** Throws HostError EINVAL if the value cannot be the name of a vDPA device. The message contains the value. */
export function checkVdpaName(value: string): void {
  if (vdpaName.test(value)) return;
  throw new HostError({ action: "look up vDPA device", target: JSON.stringify(value.slice(0, 64)) }, "EINVAL", {});
}
