// SPDX-License-Identifier: Apache-2.0
/**
 * kernelReleaseProblem says why the device plugin of afxdp-plugins-for-kubernetes ends on a kernel. It reads the number of the
 * kernel from the text of `uname -r` and cannot read that of some distributions, such as Debian's (eve-and-afxdp.md b1).
 */
import type { AfxdpPoolSpec } from "@switchyard/api";

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

/**
 * poolValueProblems checks the values of a pool of a node state, by the rules of the device plugin of
 * afxdp-plugins-for-kubernetes (eve-and-afxdp.md b1). The CRD of policies has the same rules; that of node states has none.
 * Empty if the plugin accepts the values. The texts do not name the pool.
 */
export function poolValueProblems({ name, udsTimeout = 0, uid = 0 }: AfxdpPoolSpec): readonly string[] {
  const problems: string[] = [];
  if (!/^[a-zA-Z0-9]{1,20}$/.test(name)) problems.push("the name must consist of letters and digits, at most 20");
  if (udsTimeout !== -1 && udsTimeout !== 0 && !isWithin(udsTimeout, 30, 300)) {
    problems.push("udsTimeout must be -1 (never), 0 (the default) or a number of seconds from 30 to 300");
  }
  if (uid !== 0 && !isWithin(uid, 1_000, 256_000)) problems.push("uid must be 0 or a user ID from 1000 to 256000");
  return problems;
}

function isWithin(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && least <= value && value <= most;
}
