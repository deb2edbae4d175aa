// SPDX-License-Identifier: Apache-2.0
/**
 * checkKernelName validates the name of a driver or module before it becomes part of a path or an argument of modprobe. The
 * adapters do not know where the name comes from.
 */
import { HostError } from "../../calls/host-error.ts";

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

const plain = /^[a-z][\w.-]{0,60}(=[\w.,=-]{1,100})?$/;

/**
 * Splits kernel command lines, and validates arguments before they become part of a command or of a shell fragment.
 * Throws HostError EINVAL if a text is not a plain argument. The message contains it.
 */
export function checkKernelArguments(values: readonly string[]): void {
  const wrong = values.find((value) => !plain.test(value));
  if (wrong === undefined) return;
  const shown = JSON.stringify(wrong.slice(0, 64));
  throw new HostError({ action: "check kernel argument", target: shown }, "EINVAL", {});
}

/** Splits at spaces. Values in quotes are not split correctly; no argument that matters here has one. */
export function splitArguments(line: string): readonly string[] {
  return line.split(/\s+/).filter((argument) => argument !== "");
}
