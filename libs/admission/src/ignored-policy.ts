// SPDX-License-Identifier: Apache-2.0
/**
 * isIgnoredPolicy recognizes policies that the operator ignores. Older releases of upstream created a policy named
 * "default" and later ones ignore that name (sriov-operator.md B.3). Here defaults, rules and merging ignore it in all
 * namespaces (sriov-operator.md M-37).
 * Usage: `if (isIgnoredPolicy(policy)) return []`.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";

export function isIgnoredPolicy({ metadata }: SriovNetworkNodePolicy): boolean {
  return metadata.name === "default";
}
