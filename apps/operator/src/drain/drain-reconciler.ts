// SPDX-License-Identifier: Apache-2.0
/**
 * The drain of one node, from the daemon's request to its end (sriov-operator.md G). Whose turn it is, drain-slots-reconciler.ts
 * decides; here a node that has its turn is drained, and one that asks no more is let go, also in the middle (M-52).
 * All that it must know stands on the NodeState and the Node, so whoever leads next goes on from there.
 */
import { annotations, type Node } from "@switchyard/api";
import type { Cache, Reconcile, Requeue } from "@switchyard/kube";
import { isInNodeSet } from "@switchyard/policy";
import type { LiveRules } from "../node-states/live-rules.ts";
import type { NodeStateFacts } from "../node-states/node-state-facts.ts";
import type { DrainAnswers, Swap } from "./drain-answers.ts";
import { answerOf, missingAnnotations, requestFor, wasDrainedFor, type DrainNeed } from "./drain-facts.ts";
import type { QueuePositions } from "./slots/queue-positions.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import { heldSlot } from "./slots/held-slot.ts";
import type { NodeDrainer } from "./eviction/node-drainer.ts";
import { hasDrainMarks } from "./cordon-node.ts";

export interface DrainDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<NodeStateFacts>;
  readonly rules: LiveRules;
  readonly places: Pick<QueuePositions, "get">;
  readonly answers: Pick<DrainAnswers, "swap" | "makeIdle" | "read">;
  readonly reporter: DrainReporter;
  readonly drainer: NodeDrainer;
  /** Takes back what the drain did to the Node; whether it is schedulable then. */
  readonly open: (node: string, signal: AbortSignal) => Promise<boolean>;
  /** Of the states. */
  readonly namespace: string;
  /** The wall clock. */
  readonly nowMs: () => number;
}

export function createDrainReconciler(deps: DrainDeps): Reconcile {
  const { nodes, states, places, answers, reporter, drainer } = deps;

  /** How far each handshake was when the API server was asked last. */
  const confirmed = new Map<string, string>();

  return async function reconcile(name, signal) {
    const node = nodes.get(name);
    const state = states.get(name);
    if (state === undefined) {
      drainer.leave(name);
      reporter.forget(name);
      confirmed.delete(name);
      // A state that was deleted by hand comes back at once, and with it the drain.
      if (node !== undefined && !isExpected(node)) await open(node, signal);
      return undefined;
    }
    if (node === undefined) return vanish(state, signal);

    // Who has left the node set has no daemon that could ask no more.
    const request = hasLeft(node) ? "Idle" : requestFor(node, state.drain);
    const answered = answerOf(state.drain);
    if (answered !== "Draining" || state.drain.isExternal) drainer.leave(name);
    if (state.drain.isExternal) return stepAside(node, state, signal);

    // Upstream's daemon asks for nothing before both annotations are there. A state that this operator makes has them.
    const missing = missingAnnotations(state.drain);
    if (missing.length > 0) return makeIdle(missing, name, signal);

    if (request === "Idle") return answered === "Idle" ? rest(node, state, signal) : release(node, state, signal);
    if (answered === "Idle") return wait(state, signal);
    if (answered === "Draining") return drain(node, state, request, signal);
    return wasDrainedFor(request, state.drain) ? watchDaemon(state, signal) : escalate(state, signal);
  };

  function isExpected(node: Node): boolean {
    const rules = deps.rules();
    return rules !== undefined && isInNodeSet(node, rules);
  }

  /** Without a SriovOperatorConfig nothing is begun; what was begun goes on for as long as there is the state. */
  function hasLeft(node: Node): boolean {
    return deps.rules() !== undefined && !isExpected(node);
  }

  /**
   * The Node is gone, and with it the daemon that asked. A node of this name that joins later begins anew, and gets no turn
   * that nobody asked for.
   */
  async function vanish(state: NodeStateFacts, signal: AbortSignal): Promise<Requeue | undefined> {
    const { name, drain } = state;
    drainer.leave(name);
    confirmed.delete(name);
    if (drain.isExternal) return undefined;
    const isIdle = (drain.desired ?? "Idle") === "Idle" && answerOf(drain) === "Idle";
    const both = [annotations.desiredState, annotations.currentState];
    const requeue = isIdle ? undefined : await makeIdle(both, name, signal);
    if (requeue === undefined) await reporter.withdraw(state, signal);
    return requeue;
  }

  /** Somebody else drains. He goes on with what we had begun, but our marks on the Node are nobody's but ours. */
  async function stepAside(node: Node, state: NodeStateFacts, signal: AbortSignal): Promise<Requeue | undefined> {
    const isOver = requestFor(node, state.drain) === "Idle" && answerOf(state.drain) === "Idle";
    if (isOver) return rest(node, state, signal);
    await reporter.withdraw(state, signal);
    return undefined;
  }

  async function makeIdle(which: readonly string[], name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const seen = states.observed({ name, namespace: deps.namespace });
    // The echo brings us back if it was written. If not, nobody need: what has changed may be no news of a drain.
    return seen && !(await answers.makeIdle(which, { name, ...seen }, signal)) ? recheckSoon : undefined;
  }

  /**
   * Whether the handshake stands as the cache has it. Asked once for each of its steps, before anything is done to the
   * Node: the cache of one who has just come to lead may be late, and what was due a moment ago breaks the drain of now.
   */
  async function isCurrent({ name, uid, drain: { desired, current } }: NodeStateFacts, signal: AbortSignal) {
    const step = JSON.stringify([uid, desired, current]);
    if (confirmed.get(name) === step) return true;
    const now = await answers.read({ name, uid }, signal);
    const stands = now?.desired === desired && now?.current === current;
    if (stands) confirmed.set(name, step);
    return stands;
  }

  /** Nothing is asked for: nothing of ours may be left. */
  async function rest(node: Node, state: NodeStateFacts, signal: AbortSignal): Promise<Requeue | undefined> {
    if (hasDrainMarks(node)) {
      if (!(await isCurrent(state, signal))) return recheckSoon;
      await open(node, signal);
    }
    await reporter.withdraw(state, signal);
    return undefined;
  }

  async function wait(state: NodeStateFacts, signal: AbortSignal): Promise<Requeue | undefined> {
    const place = places.get(state.name);
    if (place === undefined) return undefined;
    return soonest(await reporter.report(state, { kind: "waiting", place }, signal));
  }

  async function drain(
    node: Node,
    state: NodeStateFacts,
    needed: DrainNeed,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    if (!(await isCurrent(state, signal))) return recheckSoon;
    const toldMs = reporter.drainingSinceMs(state);
    const { phase, afterMs } = await drainer.step(node, needed, toldMs ?? deps.nowMs(), signal);
    // Who has just come to lead knows less of the pods than was told already. When it gets late, so much is news.
    const isLess = phase.kind === "draining" && phase.leaving === undefined && !phase.isLate && toldMs !== undefined;
    // Before the answer: whoever reads it also finds how much was drained.
    const untoldMs = isLess ? Infinity : await reporter.report(state, phase, signal);
    if (phase.kind !== "complete") return soonest(afterMs, untoldMs);
    return answer(state, { from: "Draining", to: "DrainComplete" }, signal);
  }

  /** The node is drained, and it is its daemon's turn. */
  async function watchDaemon(state: NodeStateFacts, signal: AbortSignal): Promise<Requeue | undefined> {
    const slot = heldSlot(state, deps.nowMs());
    return soonest(slot?.stallsInMs ?? Infinity, await reporter.reportStall(state, slot?.stall, signal));
  }

  /** Less was drained than is asked for now. The node keeps its slot. */
  function escalate(state: NodeStateFacts, signal: AbortSignal): Promise<Requeue | undefined> {
    return answer(state, { from: "DrainComplete", to: "Draining" }, signal);
  }

  /** The slot is free once the node can take pods again, and not before. */
  async function release(node: Node, state: NodeStateFacts, signal: AbortSignal): Promise<Requeue | undefined> {
    drainer.leave(state.name);
    if (!(await isCurrent(state, signal))) return recheckSoon;
    const isSchedulable = await open(node, signal);
    const again = await answer(state, { from: answerOf(state.drain), to: "Idle" }, signal);
    if (again !== undefined) return again;
    const note = isSchedulable
      ? "the drain has ended; the node is schedulable"
      : "the drain has ended; the node stays unschedulable because the operator did not cordon it";
    reporter.recordEvent(state, { type: "Normal", reason: "DrainReleased", note });
    await reporter.withdraw(state, signal);
    return undefined;
  }

  /** To this very request: it may have become another meanwhile. The echo brings us back if it was written. */
  async function answer({ name, uid, drain }: NodeStateFacts, step: Swap, signal: AbortSignal) {
    const to = { name, uid, ...(drain.desired === undefined ? {} : { desired: drain.desired }) };
    return (await answers.swap(to, step, signal)) === undefined ? recheckSoon : undefined;
  }

  function open(node: Node, signal: AbortSignal): Promise<boolean> {
    return deps.open(node.metadata.name, signal);
  }
}

/** The cache is about to show what is different. */
const recheckSoon = { afterMs: 100 };

function soonest(...timesMs: readonly number[]): Requeue | undefined {
  const afterMs = Math.min(...timesMs);
  return Number.isFinite(afterMs) ? { afterMs } : undefined;
}
