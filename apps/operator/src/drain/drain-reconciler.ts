// SPDX-License-Identifier: Apache-2.0
/**
 * The drain of one node, from the daemon's request to its end (sriov-operator.md G). Whose turn it is, drain-turns.ts
 * decides; here a node that has its turn is drained, and one that asks no more is let go, also in the middle (M-52).
 * All that it must know stands on the NodeState and the Node, so whoever leads next goes on from there.
 */
import { annotations, conditionTypes, drainReasons, type Node } from "@switchyard/api";
import type { Cache, Reconcile, Requeue } from "@switchyard/kube";
import { isInNodeSet } from "@switchyard/policy";
import type { LiveRules } from "../live-rules.ts";
import type { NodeStateFacts } from "../node-state-facts.ts";
import type { DrainAnswers } from "./drain-answers.ts";
import { answerOf, holding, requestFor, waitingSince, type DrainFacts } from "./drain-facts.ts";
import type { DrainPlaces } from "./drain-places.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import type { MachineConfigPools } from "./machine-config-pools.ts";
import type { DrainNeed, NodeDrainer } from "./node-drainer.ts";
import { isMarked } from "./node-marks.ts";

export interface DrainDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<NodeStateFacts>;
  readonly rules: LiveRules;
  readonly places: Pick<DrainPlaces, "get">;
  readonly answers: Pick<DrainAnswers, "swap" | "makeIdle" | "read">;
  readonly reporter: DrainReporter;
  readonly drainer: NodeDrainer;
  /** Takes back what the drain did to the Node; whether there was anything. */
  readonly open: (node: string, signal: AbortSignal) => Promise<boolean>;
  /** OpenShift only. */
  readonly machineConfigPools?: Pick<MachineConfigPools, "resume"> | undefined;
  /** Of the states. */
  readonly namespace: string;
  /** The wall clock. */
  readonly nowMs: () => number;
}

export function createDrainReconciler(deps: DrainDeps): Reconcile {
  const { nodes, states, places, answers, reporter, drainer } = deps;

  const placeToldMs = new Map<string, number>();
  /** How far each handshake was when the API server was asked last. */
  const confirmed = new Map<string, string>();

  return async function reconcile(name, signal) {
    const node = nodes.get(name);
    const state = states.get(name);
    if (node === undefined || state === undefined) {
      drainer.leave(name);
      reporter.forget(name);
      placeToldMs.delete(name);
      confirmed.delete(name);
      // A state that was deleted by hand comes back at once, and with it the drain.
      if (node !== undefined && !isExpected(node)) await open(node, signal);
      return undefined;
    }
    if (state.drain.isExternal) {
      drainer.leave(name);
      await reporter.withdraw(state, signal);
      return undefined;
    }
    const request = requestFor(node, state.drain);
    const answer = answerOf(state.drain);
    // While a thousand nodes appear there is no hurry: no daemon has been heard of yet.
    const isNew = state.interfaces.length === 0 && request === "Idle" && answer === "Idle";
    const missing = isNew ? [] : missingAnnotations(state.drain);
    if (missing.length > 0) return makeIdle(missing, name, signal);

    if (answer !== "Draining") drainer.leave(name);
    if (request === "Idle" || answer !== "Idle") placeToldMs.delete(name);
    if (request === "Idle") return answer === "Idle" ? rest(node, state, signal) : release(node, state, signal);
    if (answer === "Idle") return wait(state, signal);
    if (answer === "Draining") return drain(node, state, request, signal);
    return isEnough(state.drain, request) ? undefined : escalate(state, signal);
  };

  function isExpected(node: Node): boolean {
    const rules = deps.rules();
    return rules !== undefined && isInNodeSet(node, rules);
  }

  /** Upstream's daemon asks for nothing before both annotations are there. */
  async function makeIdle(missing: readonly string[], name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const seen = states.observed({ name, namespace: deps.namespace });
    // The echo brings us back if it was written. If not, nobody need: what has changed may be no news of a drain.
    return seen && !(await answers.makeIdle(missing, { name, ...seen }, signal)) ? lookAgain : undefined;
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
    if (isMarked(node)) {
      if (!(await isCurrent(state, signal))) return lookAgain;
      await open(node, signal);
    }
    await reporter.withdraw(state, signal);
    return undefined;
  }

  /** Its place in the queue is told now and then: each step of the queue would else be a write to each node in it. */
  async function wait(state: NodeStateFacts, signal: AbortSignal): Promise<Requeue | undefined> {
    const place = places.get(state.name);
    if (place === undefined) return undefined;
    const sinceMs = deps.nowMs() - (placeToldMs.get(state.name) ?? -Infinity);
    const isKnown = waitingSince(state.drain) !== undefined;
    if (isKnown && sinceMs >= 0 && sinceMs < placeIntervalMs) return { afterMs: placeIntervalMs - sinceMs };
    placeToldMs.set(state.name, deps.nowMs());
    await reporter.report(state, { kind: "waiting", place }, signal);
    return undefined;
  }

  async function drain(
    node: Node,
    state: NodeStateFacts,
    needed: DrainNeed,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    if (!(await isCurrent(state, signal))) return lookAgain;
    const toldMs = reporter.drainingSinceMs(state);
    const { phase, afterMs } = await drainer.step(node, needed, toldMs ?? deps.nowMs(), signal);
    // Who has just come to lead knows less of the pods than was told already.
    const isLess = phase.kind === "draining" && phase.leaving === undefined && toldMs !== undefined;
    // Before the answer: whoever reads it also finds how much was drained.
    if (!isLess) await reporter.report(state, phase, signal);
    if (phase.kind !== "complete") return Number.isFinite(afterMs) ? { afterMs } : undefined;
    return (await answers.swap(state, { from: "Draining", to: "DrainComplete" }, signal)) ? undefined : lookAgain;
  }

  /** Less was drained than is asked for now. The node keeps its slot. */
  async function escalate(state: NodeStateFacts, signal: AbortSignal): Promise<Requeue | undefined> {
    return (await answers.swap(state, { from: "DrainComplete", to: "Draining" }, signal)) ? undefined : lookAgain;
  }

  /** The slot is free once the node can take pods again, and not before. */
  async function release(node: Node, state: NodeStateFacts, signal: AbortSignal): Promise<Requeue | undefined> {
    drainer.leave(state.name);
    if (!(await isCurrent(state, signal))) return lookAgain;
    const wasOurs = await open(node, signal);
    await deps.machineConfigPools?.resume(node, othersAtWork(state.name), signal);
    const step = { from: answerOf(state.drain), to: "Idle" } as const;
    if (!(await answers.swap({ ...state, desired: state.drain.desired ?? "Idle" }, step, signal))) return lookAgain;
    const note = wasOurs
      ? "the node is schedulable again"
      : "the drain is over; we had not made the node unschedulable";
    reporter.tell(state, { type: "Normal", reason: "DrainReleased", note });
    await reporter.withdraw(state, signal);
    return undefined;
  }

  function open(node: Node, signal: AbortSignal): Promise<boolean> {
    return deps.open(node.metadata.name, signal);
  }

  function othersAtWork(name: string): readonly Node[] {
    return nodes.list().filter((node) => {
      const facts = states.get(node.metadata.name)?.drain;
      if (node.metadata.name === name || facts === undefined) return false;
      return requestFor(node, facts) !== "Idle" || answerOf(facts) !== "Idle";
    });
  }
}

function missingAnnotations({ desired, current }: DrainFacts): readonly string[] {
  return [
    ...(desired === undefined ? [annotations.desiredState] : []),
    ...(current !== undefined && answersKnown.has(current) ? [] : [annotations.currentState]),
  ];
}

const placeIntervalMs = 1_000;

const answersKnown: ReadonlySet<string> = new Set(["Idle", "Draining", "DrainComplete"]);

/** The cache is about to show what is different. */
const lookAgain = { afterMs: 100 };

/** Whether the drain that is complete was of all that has to go. One of which nothing is known was not. */
function isEnough({ conditions }: DrainFacts, needed: DrainNeed): boolean {
  if (needed === "Drain_Required") return true;
  const complete = holding(conditions, conditionTypes.drainComplete);
  return complete?.reason === drainReasons.allPodsGone || complete?.reason === drainReasons.onlyNode;
}
