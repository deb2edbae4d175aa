// SPDX-License-Identifier: Apache-2.0
/**
 * kernelReleaseProblem says why the device plugin of afxdp-plugins-for-kubernetes ends on a kernel. It reads the number of the
 * kernel from the text of `uname -r` and cannot read that of some distributions, such as Debian's (eve-and-afxdp.md b1).
 * Usage: `kernelReleaseProblem("6.12.117+deb12-amd64")`.
 */

const oldest = "4.18.0";

/** Returns undefined if the plugin runs on the kernel. */
export function kernelReleaseProblem(release: string): string | undefined {
  const number = numberOf(release);
  const cure = "use another kernel, or provider switchyard";
  if (number === undefined) {
    return `the device plugin of provider upstream cannot read the kernel release "${release}", and ends: ${cure}`;
  }
  if (number < (numberOf(oldest) ?? 0n)) {
    return `the device plugin of provider upstream needs kernel ${oldest} or later, and the node has ${release}: ${cure}`;
  }
  return undefined;
}

const largest = 2n ** 63n - 1n;

/** The plugin's calculation: without "+" and what follows "-", each number with at least four digits, all in a row. */
function numberOf(release: string): bigint | undefined {
  const [version = ""] = release.replaceAll("+", "").split("-");
  const digits = version
    .split(".")
    .map((part) => part.padStart(4, "0"))
    .join("");
  if (!/^\d+$/.test(digits)) return undefined;
  const number = BigInt(digits);
  return number <= largest ? number : undefined;
}
