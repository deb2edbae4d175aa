// SPDX-License-Identifier: Apache-2.0
/**
 * Splits kernel command lines, and validates arguments before they become part of a command or of a shell fragment.
 * Usage: `checkKernelArguments(change.add)`; `splitArguments("quiet iommu=pt")`.
 */
import { HostError } from "../calls/host-error.ts";

const plain = /^[a-z][\w.-]{0,60}(=[\w.,=-]{1,100})?$/;

/** Throws HostError EINVAL if a text is not a plain argument. The message contains it. */
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
