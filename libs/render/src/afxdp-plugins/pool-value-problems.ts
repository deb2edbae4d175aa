// SPDX-License-Identifier: Apache-2.0
/**
 * poolValueProblems checks the values of a pool of a node state, by the rules of the device plugin of
 * afxdp-plugins-for-kubernetes (eve-and-afxdp.md b1). The CRD of policies has the same rules; that of node states has none.
 * Usage: `poolValueProblems({ name: "intel", mode: "primary", udsTimeout: 10 })`.
 */
import type { AfxdpPoolSpec } from "@switchyard/api";

/** Empty if the plugin accepts the values. The texts do not name the pool. */
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
