// SPDX-License-Identifier: Apache-2.0
/**
 * Rules contains everything in the cluster that decides how nodes are configured, sorted, parsed and validated once.
 * Usage: `const rules = createRules({ policies, pools, operatorConfig });`, once for all nodes until one of these objects
 * changes.
 */
import type { SriovNetworkNodePolicy, SriovNetworkPoolConfig, SriovOperatorConfig } from "@switchyard/api";
import { isGateOn } from "../config/feature-gates.ts";
import { labelsProblem, nodeSetLabels, type Labels } from "../nodes/label-selector.ts";
import { defaultNicPolicy, type NicPolicy } from "../nics/nic-policy.ts";
import { inOrderOfApplication } from "../order.ts";
import { compilePolicy, type CompiledPolicy } from "./compiled-policy.ts";
import { compareAge, compilePool, type CompiledPool, type PoolProblem } from "../pools/compiled-pool.ts";
import { defaultStaleDelayMs } from "../nodes/stale-state.ts";

/**
 * The objects in the operator's namespace, in any order. Objects in other namespaces have no effect and must be
 * omitted.
 */
export interface RuleSources {
  readonly policies: readonly SriovNetworkNodePolicy[];
  readonly pools: readonly SriovNetworkPoolConfig[];
  /** The SriovOperatorConfig "default". If absent, its defaults apply. */
  readonly operatorConfig?: SriovOperatorConfig | undefined;
  /** Which cards policies may configure. Default: the built-in list with the strictness of the operator config. */
  readonly nics?: NicPolicy | undefined;
  /** Whether the cluster does not serve resource.k8s.io/v1, as before Kubernetes 1.34. Default: it does. */
  readonly lacksClaims?: boolean | undefined;
  /** Result of parseStaleDelayMs. Default: 30 minutes. */
  readonly staleDelayMs?: number | undefined;
}

/** The result of createRules. It is immutable and does not depend on the order of the sources. */
export interface Rules {
  /** The policies from the lowest to the highest priority, without the ignored "default" (sriov-operator.md B.3). */
  readonly policies: readonly SriovNetworkNodePolicy[];
  /** The pools, oldest first. */
  readonly pools: readonly SriovNetworkPoolConfig[];
  readonly operatorConfig: SriovOperatorConfig | undefined;
  /** Labels that select the node set (nodeSetLabels). */
  readonly nodeSet: Labels;
  /**
   * Why configDaemonNodeSelector is not valid; undefined if it is. Nothing is known about the node set then, so no node
   * has left it.
   */
  readonly nodeSetProblem: string | undefined;
  /** How long the state of a node that has left is kept; 0 means that it is deleted immediately. */
  readonly staleDelayMs: number;
  /** Whether the cluster does not serve resource.k8s.io/v1. */
  readonly lacksClaims: boolean;
  /** The feature gate manageSoftwareBridges. */
  readonly manageBridges: boolean;
  readonly nics: NicPolicy;
  /** Problems that pools have on every node. poolOverlaps returns those of one node. */
  readonly poolProblems: readonly PoolProblem[];
  /** `policies`, parsed and validated, in the same order. */
  readonly compiledPolicies: readonly CompiledPolicy[];
  /** `pools`, parsed and validated, in the same order. */
  readonly compiledPools: readonly CompiledPool[];
}

/** Parses and validates all sources. Invalid objects become problems in the result; the function does not throw. */
export function createRules(sources: RuleSources): Rules {
  const { operatorConfig, staleDelayMs = defaultStaleDelayMs } = sources;
  const manageBridges = isGateOn("manageSoftwareBridges", operatorConfig);
  const policies = inOrderOfApplication(sources.policies);
  const pools = sources.pools.toSorted(compareAge);
  const compiledPools = pools.map(compilePool);
  return {
    policies,
    pools,
    operatorConfig,
    nodeSet: nodeSetLabels(operatorConfig),
    nodeSetProblem: labelsProblem(nodeSetLabels(operatorConfig)),
    staleDelayMs,
    lacksClaims: sources.lacksClaims ?? false,
    manageBridges,
    nics: sources.nics ?? defaultNicPolicy(operatorConfig),
    poolProblems: compiledPools.flatMap(({ problems }) => problems),
    compiledPolicies: policies.map((policy) => compilePolicy(policy, { manageBridges })),
    compiledPools,
  };
}
