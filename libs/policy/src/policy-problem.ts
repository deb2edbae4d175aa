// SPDX-License-Identifier: Apache-2.0
/**
 * PolicyProblem describes what is wrong with a policy on a node. Problems are values, not errors: an invalid policy
 * must not stop the others (sriov-operator.md M-7).
 * Usage: `policyProblem(policy, { code: "bad-net-filter", field: "spec.nicSelector.netFilter", value, message })`.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";

/**
 * All codes with their severity. A policy with an error is not applied to some or all NICs; a warning has no such
 * effect.
 */
const policyProblemSeverity = {
  /** nicSelector has no field. The policy is not applied. */
  "empty-nic-selector": "error",
  /** netFilter is not "key:value". The policy is not applied. */
  "bad-net-filter": "error",
  /** An entry of pfNames has no name. The entry selects nothing. */
  "no-pf-name": "error",
  /** The VF range in an entry of pfNames is malformed or reversed. The policy is not applied to the PF of that name. */
  "bad-vf-range": "error",
  /** bridge is set, but eSwitchMode is not switchdev. The policy is not applied. */
  "bridge-needs-switchdev": "error",
  /** bridge is set, but linkType is not Ethernet. The policy is not applied. */
  "bridge-needs-ethernet": "error",
  /** bridge and externallyManaged are both set. The policy is not applied. */
  "bridge-externally-managed": "error",
  /** bridge has both ovs and linux. The policy is not applied. */
  "two-bridges": "error",
  /** The name of the PF's Linux bridge would be too long. The policy is applied to this PF without the bridge. */
  "bridge-name-too-long": "warning",
  /**
   * A policy of higher priority has another externallyManaged for the same PF. The policy of lower priority is not applied to
   * the PF.
   */
  "externally-managed-differs": "error",
  /** bridge is set, but the feature gate is off. The policy is applied without the bridge. */
  "bridges-disabled": "warning",
  /** An earlier entry of pfNames selects other VFs of the same PF. The entry has no effect on that PF. */
  "pf-named-twice": "warning",
  /**
   * The policy's resource gets no VF of a PF, because VF 0 is reserved for the management port of OVN-Kubernetes. The policy
   * is applied otherwise.
   */
  "vf-reserved": "warning",
  /** Another policy has VFs of the same resource on the node and another value of a setting that a resource has once. */
  "resource-setting-differs": "warning",
  /** The policy selects the node, but none of its NICs. */
  "no-match": "warning",
} as const;

/** Code of a problem. */
export type PolicyProblemCode = keyof typeof policyProblemSeverity;

/** One problem of one policy. */
export interface PolicyProblem {
  readonly policyName: string;
  readonly code: PolicyProblemCode;
  /** policyProblemSeverity of the code. */
  readonly severity: "error" | "warning";
  /** Path in the policy: "spec.nicSelector.pfNames[0]". */
  readonly field: string;
  /** Value of the field; undefined if it is absent. */
  readonly value: unknown;
  /** What is wrong and what to do. Names neither the policy nor the field, which callers put before it. */
  readonly message: string;
}

/** Adds the policy's name and the severity to a problem. */
export function policyProblem(
  policy: SriovNetworkNodePolicy,
  problem: Omit<PolicyProblem, "policyName" | "severity">,
): PolicyProblem {
  return { policyName: policy.metadata.name, severity: policyProblemSeverity[problem.code], ...problem };
}
