// SPDX-License-Identifier: Apache-2.0
/**
 * Decides whose turn it is to be drained, for all pools in one place, one decision after the other. So no two decisions
 * can give the same slot away, and a node in several pools is no special case (sriov-operator.md G, M-12, M-33).
 *
 * The cache may be late and another replica may have led a moment ago. Therefore the first slot is given only after a
 * look at what all NodeStates say right now, what was seen there or written by us counts until the cache is as far, and the
 * write that gives a slot counts only if nobody has answered that node meanwhile. To look each time would cost the API server
 * more than the drains do: a list of a thousand objects for each.
 */
import { err, ok, type Node } from "@switchyard/api";
import { isBehind, type Cache, type Reconcile } from "@switchyard/kube";
import { isInNodeSet, parseMaxUnavailable, poolsSelecting, type Rules } from "@switchyard/policy";
import type { LiveRules } from "../../node-states/live-rules.ts";
import type { NodeStateFacts } from "../../node-states/node-state-facts.ts";
import type { DrainAnswers } from "../drain-answers.ts";
import { answerOf, requestFor, waitingSince, type DrainFacts } from "../drain-facts.ts";
import type { QueuePositions } from "./queue-positions.ts";
import { planDrains, type DrainNode, type DrainPlan, type DrainPool } from "./plan-drains.ts";
import { hasDrainMarks } from "../cordon-node.ts";

export interface DrainSlotsDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<NodeStateFacts>;
  readonly rules: LiveRules;
  readonly answers: DrainAnswers;
  readonly places: QueuePositions;
  /** Of the states. */
  readonly namespace: string;
  readonly nowMs: () => number;
}

/** The one key: a decision is about all nodes. */
export const drainSlotsKey = "turns";

export function createDrainSlotsReconciler(deps: DrainSlotsDeps): Reconcile {
  const { nodes, states, answers, places } = deps;
  /** When nodes were first seen waiting, until the cache shows that it was written on them. */
  const firstSeenMs = new Map<string, number>();

  /** What we know better than the cache, by node. */
  const ahead = new Map<string, DrainFacts & { readonly version: string }>();
  let hasLooked = false;

  return async function reconcile(_key, signal) {
    const rules = deps.rules();
    if (rules === undefined) return undefined;
    let queue = drainNodes(rules);
    if (queue.every(({ phase }) => phase === "taking")) {
      places.publish(new Map());
      return undefined;
    }
    const pools = poolsOf(rules, nodes.list());
    let plan = planDrains(queue, pools);

    if (!hasLooked && takesScarceSlot(plan, queue, pools)) {
      for (const [name, facts] of await answers.list(signal)) ahead.set(name, facts);
      hasLooked = true;
      queue = drainNodes(rules);
      plan = planDrains(queue, pools);
    }
    const results = await Promise.allSettled(plan.admitted.map((name) => admit(name, signal)));
    const admitted = new Set(plan.admitted);
    queue = queue.map((node) => (admitted.has(node.name) ? { ...node, phase: "taking" } : node));
    places.publish(planDrains(queue, pools).places);
    // A write that failed may have arrived, so its slot stays taken. Others are not held up by it.
    for (const result of results) if (result.status === "rejected") throw result.reason;
    // Somebody has written there meanwhile. As long as it is not known what, the slot stays taken.
    return results.some((result) => result.status === "fulfilled" && !result.value) ? recheckSoon : undefined;
  };

  /** Those that wait or take a slot. */
  function drainNodes(rules: Rules): readonly DrainNode[] {
    const found = nodes.list().flatMap((node): readonly DrainNode[] => {
      const { name } = node.metadata;
      const phase = phaseOf(node, factsOf(name), rules);
      if (phase === "idle") return [];
      const selecting = poolsSelecting(node, rules).map(({ metadata }) => metadata.name);
      const pools = selecting.length > 0 ? selecting : [defaultPool];
      return [{ name, pools, phase, askedMs: phase === "taking" ? 0 : askedAt(name) }];
    });
    const waiting = new Set(found.filter(({ phase }) => phase !== "taking").map(({ name }) => name));
    for (const name of firstSeenMs.keys()) if (!waiting.has(name)) firstSeenMs.delete(name);
    return found;
  }

  function factsOf(name: string): DrainFacts | undefined {
    const cached = states.get(name)?.drain;
    const known = ahead.get(name);
    const seen = states.observed({ name, namespace: deps.namespace });
    if (known !== undefined && seen !== undefined && isBehind(seen.resourceVersion, known.version)) return known;
    ahead.delete(name);
    return cached;
  }

  /** In whole seconds, as conditions have it: the order is the one that people read. */
  function askedAt(name: string): number {
    const facts = states.get(name)?.drain;
    const written = facts && waitingSince(facts);
    if (written !== undefined) return Date.parse(written);
    const seenMs = firstSeenMs.get(name) ?? Math.floor(deps.nowMs() / 1000) * 1000;
    firstSeenMs.set(name, seenMs);
    return seenMs;
  }

  /** A write that arrives late, after the daemon took its request back, must not take a slot. */
  async function admit(name: string, signal: AbortSignal): Promise<boolean> {
    const uid = states.get(name)?.uid;
    const facts = factsOf(name);
    if (uid === undefined || facts?.desired === undefined) return false;
    const version = await answers.swap({ name, uid, desired: facts.desired }, { from: "Idle", to: "Draining" }, signal);
    if (version === undefined) return false;
    ahead.set(name, { ...facts, current: "Draining", version });
    return true;
  }
}

/** Of nodes in no pool: they are drained one at a time. */
const defaultPool = "";

const recheckSoon = { afterMs: 100 };

/**
 * What an external drainer does takes a slot, too, but it waits for none of ours. A node that we closed takes one until it
 * is open again, even if somebody deletes its state meanwhile.
 */
function phaseOf(node: Node, facts: DrainFacts | undefined, rules: Rules): DrainNode["phase"] {
  if (facts !== undefined && answerOf(facts) !== "Idle") return "taking";
  if (facts?.isExternal === true) return "idle";
  const isReady = facts?.current === "Idle" && facts.desired !== undefined;
  const asks = isReady && requestFor(node, facts) !== "Idle" && isInNodeSet(node, rules);
  if (hasDrainMarks(node)) return asks ? "resuming" : "taking";
  return asks ? "waiting" : "idle";
}

/** All pools by name, "" for the default one. Percentages are of the pool's nodes in the node set. */
function poolsOf(rules: Rules, all: readonly Node[]): ReadonlyMap<string, DrainPool> {
  const sizes = new Map<string, number>();
  for (const node of all.filter((each) => isInNodeSet(each, rules))) {
    for (const { metadata } of poolsSelecting(node, rules)) {
      sizes.set(metadata.name, (sizes.get(metadata.name) ?? 0) + 1);
    }
  }
  const pools = rules.pools.map(({ metadata: { name }, spec }): readonly [string, DrainPool] => {
    const limit = parseMaxUnavailable(spec?.maxUnavailable, sizes.get(name) ?? 0);
    const problem = err(
      `its maxUnavailable ${JSON.stringify(spec?.maxUnavailable)} is not a valid number or percentage of nodes`,
    );
    return [name, { title: `pool "${name}"`, limit: limit.ok ? limit : problem }];
  });
  return new Map([[defaultPool, { title: "the default pool", limit: ok(1) }], ...pools]);
}

/** Where there is no limit, nothing can be given away twice. */
function takesScarceSlot(plan: DrainPlan, queue: readonly DrainNode[], pools: ReadonlyMap<string, DrainPool>): boolean {
  const admitted = new Set(plan.admitted);
  const isScarce = (pool: string): boolean => {
    const limit = pools.get(pool)?.limit;
    return limit?.ok === true && limit.value !== Number.POSITIVE_INFINITY;
  };
  return queue.some((node) => admitted.has(node.name) && node.pools.some(isScarce));
}
