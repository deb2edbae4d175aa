// SPDX-License-Identifier: Apache-2.0
/**
 * A pool made ready for many nodes, and what is wrong with it on every one (sriov-operator.md A.7, B.8).
 * Usage: `const rule = compilePool(pool); rule.selects(labelsOf(node))`.
 */
import type { SriovNetworkPoolConfig } from "@switchyard/api";
import { compileLabelSelector, type LabelPredicate } from "../nodes/label-selector.ts";
import { parseMaxUnavailable } from "./max-unavailable.ts";
import { compareText } from "../merge/policy-order.ts";

/** One thing that is wrong with one pool. */
export interface PoolProblem {
  readonly poolName: string;
  /**
   * bad-node-selector: the pool selects no node. bad-max-unavailable: parseMaxUnavailable refuses it. overlap: another
   * pool selects the same node; pools.ts says what holds.
   */
  readonly code: "bad-node-selector" | "bad-max-unavailable" | "overlap";
  /** Where in the pool: "spec.maxUnavailable". */
  readonly field: string;
  /** What stands there; undefined where nothing does. */
  readonly value: unknown;
  /** What, where and what would be right. Names neither the pool nor the field. */
  readonly message: string;
}

/** A pool, read and judged. */
export interface PoolRule {
  readonly pool: SriovNetworkPoolConfig;
  readonly selects: LabelPredicate;
  /** What is wrong with it on every node. */
  readonly problems: readonly PoolProblem[];
}

/** Whether the pool is of the other sort: OpenShift's hardware offload on a MachineConfigPool. It selects no nodes. */
export function isHardwareOffloadPool(pool: SriovNetworkPoolConfig): boolean {
  return Boolean(pool.spec?.ovsHardwareOffloadConfig?.name);
}

/** Reads and judges a pool. An absent nodeSelector selects every node. */
export function compilePool(pool: SriovNetworkPoolConfig): PoolRule {
  if (isHardwareOffloadPool(pool)) return { pool, selects: () => false, problems: [] };
  const poolName = pool.metadata.name;
  const problems: PoolProblem[] = [];
  const selector = compileLabelSelector(pool.spec?.nodeSelector);
  if (!selector.ok) {
    const { code, field, value } = selector.error;
    const message = `selects no node: ${selectorAdvice[code]}`;
    problems.push({ poolName, code: "bad-node-selector", field: `spec.nodeSelector.${field}`, value, message });
  }
  const limit = parseMaxUnavailable(pool.spec?.maxUnavailable, 0);
  if (!limit.ok) {
    const { value } = limit.error;
    const message =
      `${JSON.stringify(value)} is no number of nodes: ` +
      'write a whole number from 0, or a percentage from "1%" to "100%"';
    problems.push({ poolName, code: "bad-max-unavailable", field: "spec.maxUnavailable", value, message });
  }
  return { pool, selects: selector.ok ? selector.value : () => false, problems };
}

/** The oldest first, then by name. What has no creation time is not created yet: the youngest. */
export function compareAge(a: SriovNetworkPoolConfig, b: SriovNetworkPoolConfig): number {
  const [older, younger] = [createdMs(a), createdMs(b)];
  if (older !== younger) return older < younger ? -1 : 1;
  return compareText(a.metadata.name, b.metadata.name);
}

const selectorAdvice = {
  "values-needed": "In and NotIn need at least one value",
  "values-not-allowed": "Exists and DoesNotExist take no values",
  "unknown-operator": "the operators are In, NotIn, Exists and DoesNotExist",
};

function createdMs(pool: SriovNetworkPoolConfig): number {
  return Date.parse(pool.metadata.creationTimestamp ?? "") || Number.POSITIVE_INFINITY;
}
