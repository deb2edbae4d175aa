// SPDX-License-Identifier: Apache-2.0

/** Returns the number that the plugin reads from `uname -r` (docs/upstream/eve-and-afxdp.md b1); NaN if it cannot read it. */
export function kernelNumber(release: string): number {
  const [version = ""] = release.replaceAll("+", "").split("-");
  const digits = version.split(".").map((part) => `0000${part}`.slice(-Math.max(4, part.length)));
  return Number(/^\d+$/.test(digits.join("")) ? digits.join("") : "NaN");
}
