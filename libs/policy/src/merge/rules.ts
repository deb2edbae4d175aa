// SPDX-License-Identifier: Apache-2.0
/**
 * Everything in the cluster that decides about nodes, sorted, read and judged once for all of them.
 * Usage: `const rules = createRules({ policies, pools, operatorConfig })`, once for all nodes until one of these
 * changes.
 */
import type { SriovNetworkNodePolicy, SriovNetworkPoolConfig, SriovOperatorConfig } from "@switchyard/api";
import { isGateOn } from "../config/feature-gates.ts";
import type { Labels } from "../nodes/label-selector.ts";
import { defaultNicPolicy, type NicPolicy } from "../nics/nic-policy.ts";
import { nodeSetLabels } from "../nodes/node-set.ts";
import { inOrderOfApplication } from "./policy-order.ts";
import { compilePolicy, type PolicyRule } from "./policy-rule.ts";
import { compareAge, compilePool, type PoolProblem, type PoolRule } from "../pools/pool-rule.ts";
import { defaultStaleDelayMs } from "../nodes/stale-state.ts";

/**
 * What createRules starts from: the objects of the operator's namespace, in any order. Others have no say; leave them
 * out.
 */
export interface RuleSources {
  readonly policies: readonly SriovNetworkNodePolicy[];
  readonly pools: readonly SriovNetworkPoolConfig[];
  /** SriovOperatorConfig "default". Without one its defaults hold. */
  readonly operatorConfig?: SriovOperatorConfig | undefined;
  /** Which cards policies may take; by default the built-in list and what the operator config says of others. */
  readonly nics?: NicPolicy | undefined;
  /** See parseStaleDelayMs; 30 minutes where absent. */
  readonly staleDelayMs?: number | undefined;
}

/** Made by createRules, never changed. Depends on nothing but its sources, whatever their order. */
export interface Rules {
  /** From the weakest to the strongest, without the deprecated "default" (sriov-operator.md B.3). */
  readonly policies: readonly SriovNetworkNodePolicy[];
  /** The oldest first. */
  readonly pools: readonly SriovNetworkPoolConfig[];
  readonly operatorConfig: SriovOperatorConfig | undefined;
  /** Labels of the nodes that are managed at all (nodeSetLabels). */
  readonly nodeSet: Labels;
  /** How long the state of a node that left is kept; 0 is not at all. */
  readonly staleDelayMs: number;
  /** The feature gate manageSoftwareBridges. */
  readonly manageBridges: boolean;
  readonly nics: NicPolicy;
  /** What is wrong with pools on every node; poolOverlaps adds what is wrong on one. */
  readonly poolProblems: readonly PoolProblem[];
  /** `policies`, read and judged, in the same order. For this library. */
  readonly policyRules: readonly PolicyRule[];
  /** `pools`, read and judged, in the same order. For this library. */
  readonly poolRules: readonly PoolRule[];
}

/** Reads and judges everything once; what is wrong becomes a problem in the result, never an error. */
export function createRules(sources: RuleSources): Rules {
  const { operatorConfig, staleDelayMs = defaultStaleDelayMs } = sources;
  const manageBridges = isGateOn("manageSoftwareBridges", operatorConfig);
  const policies = inOrderOfApplication(sources.policies);
  const pools = sources.pools.toSorted(compareAge);
  const poolRules = pools.map(compilePool);
  return {
    policies,
    pools,
    operatorConfig,
    nodeSet: nodeSetLabels(operatorConfig),
    staleDelayMs,
    manageBridges,
    nics: sources.nics ?? defaultNicPolicy(operatorConfig),
    poolProblems: poolRules.flatMap(({ problems }) => problems),
    policyRules: policies.map((policy) => compilePolicy(policy, { manageBridges })),
    poolRules,
  };
}
