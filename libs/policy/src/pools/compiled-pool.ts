// SPDX-License-Identifier: Apache-2.0
/**
 * CompiledPool is a pool prepared for use on many nodes, with the problems that it has on every node
 * (sriov-operator.md A.7, B.8).
 * Usage: `const compiled = compilePool(pool); compiled.selects(labelsOf(node))`.
 */
import { err, ok, type Result, type SriovNetworkPoolConfig } from "@switchyard/api";
import { compileLabelSelector, type LabelPredicate } from "../nodes/label-selector.ts";
import { compareText } from "../order.ts";

/** One problem of one pool. */
export interface PoolProblem {
  readonly poolName: string;
  /**
   * bad-node-selector: nodeSelector is invalid, so the pool selects no node. bad-max-unavailable: parseMaxUnavailable
   * rejects the value. no-claims: the cluster has no ResourceClaims. overlap: another pool selects the same node; pools.ts describes what applies then.
   */
  readonly code: "bad-node-selector" | "bad-max-unavailable" | "no-claims" | "overlap";
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

/** Why the value is invalid. */
export interface MaxUnavailableProblem {
  readonly code: "not-a-count" | "not-a-percentage";
  readonly value: number | string;
}

/**
 * parseMaxUnavailable returns how many nodes of a pool may be drained at once (sriov-operator.md A.7, B.10). Returns how many
 * nodes of a pool with `nodeCount` nodes may be unavailable at once; Infinity if the value is absent. A percentage (1% to 100%)
 * is rounded down, but to at least 1: with 0 the pool would never drain, and nothing would report it (sriov-operator.md M-12).
 * The number 0 blocks all drains.
 */
export function parseMaxUnavailable(
  value: number | string | undefined,
  nodeCount: number,
): Result<number, MaxUnavailableProblem> {
  if (value === undefined) return ok(Number.POSITIVE_INFINITY);
  if (typeof value === "number") {
    return Number.isSafeInteger(value) && value >= 0 ? ok(value) : err({ code: "not-a-count", value });
  }
  const [, digits] = /^(\d+)%$/.exec(value) ?? [];
  const percentage = Number(digits); // NaN without digits
  if (!(percentage >= 1 && percentage <= 100)) return err({ code: "not-a-percentage", value });
  return ok(Math.max(1, Math.floor((percentage * nodeCount) / 100)));
}
