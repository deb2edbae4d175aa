// SPDX-License-Identifier: Apache-2.0
/**
 * createPoolStatusReconciler writes the status of one SriovNetworkPoolConfig: how many nodes it selects, how many of
 * them are configured, which of them hold a drain slot, and which pools overlap with it (sriov-operator.md M-44).
 */
import { defined, policyReasons, type DrainingNode, type Node, type SriovNetworkPoolConfig } from "@switchyard/api";
import type { Cache, Reconcile, Writer } from "@switchyard/kube";
import {
  describeEmptySelector,
  isEmptyLabelSelector,
  isHardwareOffloadPool,
  isInNodeSet,
  poolOverlaps,
  noClaims,
  poolsSelecting,
  type PoolProblem,
  type Rules,
} from "@switchyard/policy";
import { byAge, describeStalls, heldSlot, type HeldSlot } from "../facts/held-slot.ts";
import { conditionsFor, isReady, withoutOperatorConfig, type ConditionSummary } from "../reports/condition-summary.ts";
import type { LiveRules } from "../facts/live-rules.ts";
import { progressOf, type Progress } from "../results/node-progress.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { describeNoNodes } from "./policy-summary.ts";
import type { RecordTransition } from "../reports/transition-events.ts";
import type { MergeResults } from "../results/merge-results.ts";

export interface PoolStatusDeps {
  readonly pools: Cache<SriovNetworkPoolConfig>;
  readonly nodes: Cache<Node>;
  readonly states: Cache<CachedNodeState>;
  readonly rules: LiveRules;
  readonly mergeResults: MergeResults;
  readonly writer: Writer<SriovNetworkPoolConfig>;
  readonly recordTransition: RecordTransition;
  readonly now: () => Date;
}

/** Most entries of status.drainingNodes. */
const maxDrainingNodes = 100;

/** The merge result of a node is missing after a start or a change. */
const mergePending = { afterMs: 200 };

export function createPoolStatusReconciler(deps: PoolStatusDeps): Reconcile {
  return async function reconcile(name, signal) {
    const pool = deps.pools.get(name);
    const rules = deps.rules();
    if (pool === undefined || isHardwareOffloadPool(pool)) return undefined;

    const { members, outside } =
      rules === undefined ? { members: [], outside: [] } : selectedNodes(name, deps.nodes, rules);
    const wasReady = isReady(pool);
    const nowMs = deps.now().getTime();
    const slots = members.flatMap(({ metadata }) => heldSlot(deps.states.get(metadata.name), nowMs) ?? []).sort(byAge);
    const progress: Progress[] = [];
    for (const { metadata } of members) {
      const mergeResult = deps.mergeResults.get(metadata.name);
      if (mergeResult === undefined) return mergePending;
      progress.push(progressOf(deps.states.get(metadata.name), mergeResult.spec, { wasReady }));
    }
    const readyNodeCount = progress.filter(({ kind }) => kind === "ready").length;
    const draNodeCount = members.filter(({ metadata }) => {
      return deps.states.get(metadata.name)?.offers.offeredBy === "dra";
    }).length;
    const { generation = 0 } = pool.metadata;
    const summary =
      rules === undefined ? withoutOperatorConfig : poolSummary(pool, { members, outside, progress, slots, rules });
    const drainingNodes = slots.length === 0 ? undefined : slots.slice(0, maxDrainingNodes).map(toDrainingNode);
    const result = await deps.writer.applyStatus(
      {
        metadata: { name },
        status: {
          conditions: conditionsFor(summary, pool.status?.conditions ?? [], generation, deps.now()),
          observedGeneration: generation,
          matchedNodeCount: members.length,
          readyNodeCount,
          ...defined({ drainingNodes, draNodeCount: draNodeCount === 0 ? undefined : draNodeCount }),
        },
      },
      signal,
    );
    if (result === "written") deps.recordTransition(pool, summary);
    const afterMs = Math.min(...slots.map(({ stallsInMs }) => stallsInMs));
    return Number.isFinite(afterMs) ? { afterMs } : undefined;
  };
}

/** Returns the nodes that the pool selects, also if an older pool selects them, and the names of those outside of the node set. */
function selectedNodes(name: string, nodes: Cache<Node>, rules: Rules): Pick<PoolCounts, "members" | "outside"> {
  const selected = nodes
    .list()
    .filter((node) => poolsSelecting(node, rules).some(({ metadata }) => metadata.name === name));
  return {
    members: selected.filter((node) => isInNodeSet(node, rules)),
    outside: selected.filter((node) => !isInNodeSet(node, rules)).map(({ metadata }) => metadata.name),
  };
}

interface PoolCounts {
  readonly members: readonly Node[];
  /** Names of the nodes that the pool selects although they are outside of the node set. */
  readonly outside: readonly string[];
  /** Progress of each member. */
  readonly progress: readonly Progress[];
  readonly slots: readonly HeldSlot[];
  readonly rules: Rules;
}

function poolSummary(
  { metadata: { name }, spec }: SriovNetworkPoolConfig,
  { members, outside, progress, slots, rules }: PoolCounts,
): ConditionSummary {
  const isOwn = ({ poolName }: PoolProblem): boolean => poolName === name;
  const problem = rules.poolProblems.find(isOwn);
  if (problem !== undefined) return degraded(policyReasons.invalid, problem);
  if (rules.lacksClaims && spec?.allocation === "dra") {
    const value = {
      poolName: name,
      code: "no-claims",
      field: "spec.allocation",
      value: "dra",
      message: noClaims,
    } as const;
    return degraded(policyReasons.invalid, value);
  }
  const [overlap, ...others] = members.flatMap((node) => poolOverlaps(node, rules).filter(isOwn));
  if (overlap !== undefined) return degraded(policyReasons.overlap, overlap, others.length);
  const stall = describeStalls(slots);
  if (stall !== undefined) return { state: "degraded", reason: policyReasons.daemonStalled, message: stall };
  const ready = progress.filter(({ kind }) => kind === "ready").length;
  const all = isEmptyLabelSelector(spec?.nodeSelector) ? `; ${describeEmptySelector(members.length)}` : "";
  const message = `${ready} of ${members.length} nodes configured${all}`;
  if (members.length === 0) {
    const selection = { outside, nodeSetProblem: rules.nodeSetProblem, configKind: "SriovOperatorConfig" as const };
    return { state: "idle", reason: policyReasons.noNodes, message: describeNoNodes(selection) };
  }
  if (progress.some(({ kind }) => kind === "failed")) {
    return { state: "degraded", reason: policyReasons.nodesFailed, message };
  }
  return ready === members.length
    ? { state: "ready", reason: policyReasons.configured, message }
    : { state: "progressing", reason: policyReasons.configuring, message };
}

function toDrainingNode({ node, state, since }: HeldSlot): DrainingNode {
  return { node, state, ...defined({ since }) };
}

/** `more` is the number of other nodes with the same problem. */
function degraded(reason: string, { field, message }: PoolProblem, more = 0): ConditionSummary {
  const others = more === 1 ? "; 1 more node" : `; ${more} more nodes`;
  return { state: "degraded", reason, message: `${field}: ${message}${more === 0 ? "" : others}` };
}
