// SPDX-License-Identifier: Apache-2.0
/**
 * CompiledPool is a pool prepared for use on many nodes, with the problems that it has on every node
 * (sriov-operator.md A.7, B.8).
 * Usage: `const compiled = compilePool(pool); compiled.selects(labelsOf(node))`.
 */
import type { SriovNetworkPoolConfig } from "@switchyard/api";
import { compileLabelSelector, type LabelPredicate } from "../nodes/label-selector.ts";
import { parseMaxUnavailable } from "./max-unavailable.ts";
import { compareText } from "../compare-text.ts";

/** One problem of one pool. */
export interface PoolProblem {
  readonly poolName: string;
  /**
   * bad-node-selector: nodeSelector is invalid, so the pool selects no node. bad-max-unavailable: parseMaxUnavailable
   * rejects the value. overlap: another pool selects the same node; pools.ts describes what applies then.
   */
  readonly code: "bad-node-selector" | "bad-max-unavailable" | "overlap";
  /** Path in the pool: "spec.maxUnavailable". */
  readonly field: string;
  /** Value of the field; undefined if it is absent. */
  readonly value: unknown;
  /** What is wrong and what to do. Names neither the pool nor the field, which callers put before it. */
  readonly message: string;
}

/** A pool, parsed and validated. */
export interface CompiledPool {
  readonly pool: SriovNetworkPoolConfig;
  readonly selects: LabelPredicate;
  /** Problems that the pool has on every node. */
  readonly problems: readonly PoolProblem[];
}

/**
 * Reports whether the pool is for OpenShift's hardware offload on a MachineConfigPool. Such a pool selects no nodes.
 */
export function isHardwareOffloadPool(pool: SriovNetworkPoolConfig): boolean {
  return Boolean(pool.spec?.ovsHardwareOffloadConfig?.name);
}

/** Parses and validates a pool. An absent nodeSelector selects all nodes. */
export function compilePool(pool: SriovNetworkPoolConfig): CompiledPool {
  if (isHardwareOffloadPool(pool)) return { pool, selects: () => false, problems: [] };
  const poolName = pool.metadata.name;
  const problems: PoolProblem[] = [];
  const selector = compileLabelSelector(pool.spec?.nodeSelector);
  if (!selector.ok) {
    const { code, field, value } = selector.error;
    const message = `is invalid, so the pool selects no node: ${selectorAdvice[code]}`;
    problems.push({ poolName, code: "bad-node-selector", field: `spec.nodeSelector.${field}`, value, message });
  }
  const limit = parseMaxUnavailable(pool.spec?.maxUnavailable, 0);
  if (!limit.ok) {
    const { value } = limit.error;
    const message =
      `${JSON.stringify(value)} is not a number of nodes: ` +
      'use a whole number of at least 0, or a percentage from "1%" to "100%"';
    problems.push({ poolName, code: "bad-max-unavailable", field: "spec.maxUnavailable", value, message });
  }
  return { pool, selects: selector.ok ? selector.value : () => false, problems };
}

/**
 * Compares pools by age, oldest first, then by name. A pool without creation time has not been created yet: it is
 * youngest.
 */
export function compareAge(a: SriovNetworkPoolConfig, b: SriovNetworkPoolConfig): number {
  const [older, younger] = [createdMs(a), createdMs(b)];
  if (older !== younger) return older < younger ? -1 : 1;
  return compareText(a.metadata.name, b.metadata.name);
}

const selectorAdvice = {
  "values-needed": "the operators In and NotIn require at least one value",
  "values-not-allowed": "the operators Exists and DoesNotExist allow no values",
  "unknown-operator": "the operator must be In, NotIn, Exists or DoesNotExist",
};

function createdMs(pool: SriovNetworkPoolConfig): number {
  return Date.parse(pool.metadata.creationTimestamp ?? "") || Number.POSITIVE_INFINITY;
}
