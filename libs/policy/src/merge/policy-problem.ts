// SPDX-License-Identifier: Apache-2.0
/**
 * What can be wrong with a policy on a node. A value: users mistype, and one bad policy must not stop the others (M-7).
 * Usage: `policyProblem(policy, { code: "bad-net-filter", field: "spec.nicSelector.netFilter", value, message })`.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";

/** Every code, and what it means for the policy: an error keeps it from some or all NICs, a warning does not. */
export const policyProblemSeverity = {
  /** nicSelector has no field: the policy is applied nowhere. */
  "empty-nic-selector": "error",
  /** netFilter is no "key:value": the policy is applied nowhere. */
  "bad-net-filter": "error",
  /** A pfNames entry has no name: the entry selects nothing. */
  "no-pf-name": "error",
  /** The VF range of a pfNames entry is malformed or reversed: the policy is not applied to the PF of that name. */
  "bad-vf-range": "error",
  /** A bridge is asked for, but not switchdev: the policy is applied nowhere. */
  "bridge-needs-switchdev": "error",
  /** A bridge is asked for on a link that is not Ethernet: the policy is applied nowhere. */
  "bridge-needs-ethernet": "error",
  /** A bridge is asked for on a PF that somebody else configures: the policy is applied nowhere. */
  "bridge-externally-managed": "error",
  /** A bridge is asked for, but the feature gate is off: no bridge is made; the VFs are. */
  "bridges-disabled": "warning",
  /** An earlier pfNames entry names the same PF: this one has no effect there. */
  "pf-named-twice": "warning",
  /** The policy selects the node, but none of its NICs. */
  "no-match": "warning",
} as const;

export type PolicyProblemCode = keyof typeof policyProblemSeverity;

/** One thing that is wrong with one policy. */
export interface PolicyProblem {
  readonly policyName: string;
  readonly code: PolicyProblemCode;
  /** policyProblemSeverity of the code. */
  readonly severity: "error" | "warning";
  /** Where in the policy: "spec.nicSelector.pfNames[0]". */
  readonly field: string;
  /** What stands there; undefined where nothing does. */
  readonly value: unknown;
  /** What, where and what would be right. Names neither the policy nor the field. */
  readonly message: string;
}

/** Completes a problem of `policy`. */
export function policyProblem(
  policy: SriovNetworkNodePolicy,
  problem: Omit<PolicyProblem, "policyName" | "severity">,
): PolicyProblem {
  return { policyName: policy.metadata.name, severity: policyProblemSeverity[problem.code], ...problem };
}
