// SPDX-License-Identifier: Apache-2.0
/**
 * createDrainSlotsReconciler assigns the drain slots of all pools, one decision after the other. So no slot is assigned
 * twice, and a node in several pools needs no special case (sriov-operator.md G, M-12, M-33).
 *
 * The cache may lag behind, and another replica may have led a moment ago. So the first slot is assigned only after all
 * node states are listed from the API server. What that list showed, and what this replica wrote, takes precedence over
 * the cache until the cache has caught up. The write that assigns a slot fails if the node has been answered meanwhile.
 * Listing for each decision would cost the API server more than the drains: a list of up to a thousand objects each
 * time.
 */
import { drainAnswers, drainRequests, err, ok, type Node } from "@switchyard/api";
import { isBehind, recordedMs, type Cache, type Reconcile } from "@switchyard/kube";
import { isInNodeSet, parseMaxUnavailable, poolsSelecting, type Rules } from "@switchyard/policy";
import type { LiveRules } from "../../facts/live-rules.ts";
import { hasDrainMarks } from "../cordon-node.ts";
import type { DrainAnswers, ListedHandshake } from "../drain-answers.ts";
import { answerOf, requestFor, waitingSince, type CachedDrain } from "../../facts/cached-drain.ts";
import type { DrainCarriers } from "../drain-carriers.ts";
import { recheckSoon } from "../../controller-pace.ts";
import { planDrains, type DrainNode, type DrainPlan, type DrainPool } from "./plan-drains.ts";
import type { QueuePositions } from "./queue-positions.ts";

export interface DrainSlotsDeps {
  readonly nodes: Cache<Node>;
  readonly states: DrainCarriers;
  readonly rules: LiveRules;
  readonly answers: DrainAnswers;
  readonly positions: QueuePositions;
  /** Namespace of the states. */
  readonly namespace: string;
  readonly nowMs: () => number;
}

/** The only key, because a decision is about all nodes. */
export const drainSlotsKey = "slots";

export function createDrainSlotsReconciler(deps: DrainSlotsDeps): Reconcile {
  const { nodes, states, answers, positions } = deps;
  const knowledge = createDrainKnowledge(deps);
  const requestTimes = createRequestTimes(deps);
  let hasListed = false;

  return async function reconcile(_key, signal) {
    const rules = deps.rules();
    if (rules === undefined) return undefined;
    let queue = drainNodes(rules);
    if (queue.every(({ phase }) => phase === "holding")) {
      positions.publish(new Map());
      return undefined;
    }
    const pools = poolsOf(rules, nodes.list());
    let plan = planDrains(queue, pools);

    if (!hasListed && takesLimitedSlot(plan, queue, pools)) {
      for (const listed of await answers.list(signal)) knowledge.set(listed);
      hasListed = true;
      queue = drainNodes(rules);
      plan = planDrains(queue, pools);
    }
    const results = await Promise.allSettled(plan.admitted.map((name) => admit(name, signal)));
    const admitted = new Set(plan.admitted);
    queue = queue.map((node) => (admitted.has(node.name) ? { ...node, phase: "holding" } : node));
    positions.publish(planDrains(queue, pools).positions);
    // A write that failed may have arrived, so its slot stays taken. Other nodes are not delayed by it.
    for (const result of results) if (result.status === "rejected") throw result.reason;
    // The annotations of a node changed meanwhile. Its slot stays taken until the cache shows the change.
    return results.some((result) => result.status === "fulfilled" && !result.value) ? recheckSoon : undefined;
  };

  /** Returns the nodes that wait for a slot or hold one. */
  function drainNodes(rules: Rules): readonly DrainNode[] {
    const found = nodes.list().flatMap((node): readonly DrainNode[] => {
      const { name } = node.metadata;
      const phase = phaseOf(node, knowledge.get(name), rules);
      if (phase === "idle") return [];
      const selecting = poolsSelecting(node, rules).map(({ metadata }) => metadata.name);
      const pools = selecting.length > 0 ? selecting : [defaultPool];
      return [{ name, pools, phase, requestedMs: phase === "holding" ? 0 : requestTimes.get(name) }];
    });
    requestTimes.keepOnly(found.filter(({ phase }) => phase !== "holding").map(({ name }) => name));
    return found;
  }

  /** Writes the answer "Draining". A write that arrives after the daemon withdrew its request has no effect. */
  async function admit(name: string, signal: AbortSignal): Promise<boolean> {
    const state = states.get(name);
    const facts = knowledge.get(name);
    if (state === undefined || facts?.desired === undefined) return false;
    const { type, uid } = state;
    const step = { from: drainAnswers.idle, to: drainAnswers.draining };
    const version = await answers.swap({ type, name, uid, desired: facts.desired }, step, signal);
    if (version === undefined) return false;
    knowledge.set({ name, uid, version, facts: { ...facts, current: drainAnswers.draining } });
    return true;
  }
}

/** The handshakes that were listed or written by this replica, and the cached ones once the cache is as new. */
function createDrainKnowledge({ states, namespace }: Pick<DrainSlotsDeps, "states" | "namespace">) {
  const newer = new Map<string, ListedHandshake>();
  let { rewinds } = states;
  /** After the restore of a backup of etcd, the versions of before mean nothing. */
  function forgetIfRewound(): void {
    if (rewinds !== states.rewinds) newer.clear();
    rewinds = states.rewinds;
  }
  return {
    set(handshake: ListedHandshake): void {
      forgetIfRewound();
      newer.set(keyOf(handshake), handshake);
    },
    get(name: string): CachedDrain | undefined {
      forgetIfRewound();
      const state = states.get(name);
      if (state === undefined) return undefined;
      if (newer.size === 0) return state.drain;
      const key = keyOf(state);
      const known = newer.get(key);
      const seen = states.observed({ name, namespace });
      if (known !== undefined && seen !== undefined && isBehind(seen.resourceVersion, known.version))
        return known.facts;
      newer.delete(key);
      return state.drain;
    },
  };
}

/** A node can have a state for SR-IOV and another for AF_XDP. */
function keyOf({ name, uid }: Pick<ListedHandshake, "name" | "uid">): string {
  return `${name}/${uid}`;
}

/** When each node began to wait: the time in its conditions, or the time when the request was first seen. */
function createRequestTimes({ states, nowMs }: Pick<DrainSlotsDeps, "states" | "nowMs">) {
  const firstSeenMs = new Map<string, number>();
  return {
    /** In whole seconds like the conditions, so that the order of the queue is the one that users see. */
    get(name: string): number {
      const facts = states.get(name)?.drain;
      const writtenMs = facts && recordedMs(waitingSince(facts), nowMs());
      if (writtenMs !== undefined) return writtenMs;
      const seenMs = firstSeenMs.get(name) ?? Math.floor(nowMs() / 1000) * 1000;
      firstSeenMs.set(name, seenMs);
      return seenMs;
    },
    /** Drops the times of nodes that no longer wait. */
    keepOnly(names: readonly string[]): void {
      const waiting = new Set(names);
      for (const name of firstSeenMs.keys()) if (!waiting.has(name)) firstSeenMs.delete(name);
    },
  };
}

/** Key of the pool of all nodes that no SriovNetworkPoolConfig selects. They are drained one at a time. */
const defaultPool = "";

/**
 * A node that an external drainer drains holds a slot, but does not wait for one. A node that the operator cordoned
 * holds its slot until it is uncordoned, even if its state is deleted meanwhile.
 */
function phaseOf(node: Node, facts: CachedDrain | undefined, rules: Rules): DrainNode["phase"] {
  if (facts !== undefined && answerOf(facts) !== drainAnswers.idle) return "holding";
  if (facts?.isExternal === true) return "idle";
  const isComplete = facts?.current === drainAnswers.idle && facts.desired !== undefined;
  const isRequested = isComplete && requestFor(node, facts) !== drainRequests.idle && isInNodeSet(node, rules);
  if (hasDrainMarks(node)) return isRequested ? "resuming" : "holding";
  return isRequested ? "waiting" : "idle";
}

/** All pools by name. Percentages apply to the pool's nodes in the node set. */
function poolsOf(rules: Rules, all: readonly Node[]): ReadonlyMap<string, DrainPool> {
  const sizes = new Map<string, number>();
  for (const node of all.filter((each) => isInNodeSet(each, rules))) {
    for (const { metadata } of poolsSelecting(node, rules)) {
      sizes.set(metadata.name, (sizes.get(metadata.name) ?? 0) + 1);
    }
  }
  const pools = rules.pools.map(({ metadata: { name }, spec }): readonly [string, DrainPool] => {
    const limit = parseMaxUnavailable(spec?.maxUnavailable, sizes.get(name) ?? 0);
    const value = JSON.stringify(spec?.maxUnavailable);
    const problem = err(`its maxUnavailable ${value} is not a valid number or percentage of nodes`);
    return [name, { title: `pool "${name}"`, limit: limit.ok ? limit : problem }];
  });
  return new Map([[defaultPool, { title: "the default pool", limit: ok(1) }], ...pools]);
}

/** Reports whether the plan assigns a slot of a pool with a limit. Slots of other pools cannot be assigned twice. */
function takesLimitedSlot(
  plan: DrainPlan,
  queue: readonly DrainNode[],
  pools: ReadonlyMap<string, DrainPool>,
): boolean {
  const admitted = new Set(plan.admitted);
  const isLimited = (pool: string): boolean => {
    const limit = pools.get(pool)?.limit;
    return limit?.ok === true && limit.value !== Number.POSITIVE_INFINITY;
  };
  return queue.some((node) => admitted.has(node.name) && node.pools.some(isLimited));
}
