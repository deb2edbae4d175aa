// SPDX-License-Identifier: Apache-2.0
/**
 * createDrainReconciler drains one node, from the daemon's request to the release (sriov-operator.md G).
 * slots/drain-slots-reconciler.ts decides which node may be drained. This reconciler drains a node that has its slot,
 * and releases a node whose daemon withdraws its request. It does so also in the middle of a drain (sriov-operator.md
 * M-52). All state is on the SriovNetworkNodeState and the Node, so another replica can continue.
 */
import {
  afxdpNetworkNodeStates,
  annotations,
  drainAnswers,
  drainRequests,
  eventReasons,
  type DrainNeed,
  type Node,
} from "@switchyard/api";
import type { Cache, Reconcile, Requeue } from "@switchyard/kube";
import { drainsByDevice, isInNodeSet } from "@switchyard/policy";
import type { LiveRules } from "../facts/live-rules.ts";
import { recheckSoon } from "../controller-pace.ts";
import { hasDrainMarks } from "./cordon-node.ts";
import type { DrainAnswers } from "./drain-answers.ts";
import { answerOf, missingAnnotations, requestFor, wasDrainedFor } from "../facts/cached-drain.ts";
import { createDrainHandshake, type DrainHandshake } from "./drain-handshake.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import type { DrainCarrier, DrainCarriers } from "./drain-carriers.ts";
import type { NodeDrainer } from "./eviction/node-drainer.ts";
import { heldSlot } from "../facts/held-slot.ts";
import type { QueuePositions } from "./slots/queue-positions.ts";

export interface DrainDeps {
  readonly nodes: Cache<Node>;
  readonly states: DrainCarriers;
  readonly rules: LiveRules;
  readonly positions: Pick<QueuePositions, "get">;
  readonly answers: Pick<DrainAnswers, "swap" | "makeIdle" | "read">;
  readonly reporter: DrainReporter;
  readonly drainer: NodeDrainer;
  /** Undoes what the drain did to the Node. Returns whether the node is schedulable afterwards. */
  readonly uncordon: (node: string, signal: AbortSignal) => Promise<boolean>;
  /** Namespace of the states. */
  readonly namespace: string;
  /** The wall clock. */
  readonly nowMs: () => number;
}

type DrainTools = Omit<DrainDeps, "nodes" | "states" | "answers" | "namespace"> & {
  readonly handshake: DrainHandshake;
};

interface DrainTask {
  readonly node: Node;
  readonly state: DrainCarrier;
  readonly signal: AbortSignal;
}

export function createDrainReconciler(deps: DrainDeps): Reconcile {
  const { nodes, states, reporter, drainer } = deps;
  const handshake = createDrainHandshake(deps);
  const tools: DrainTools = { ...deps, handshake };

  return async function reconcile(name, signal) {
    const node = nodes.get(name);
    const state = states.get(name);
    if (state === undefined) {
      drainer.leave(name);
      reporter.forget(name);
      handshake.forget(name);
      // A state that was deleted by hand comes back at once, and its drain continues.
      if (node !== undefined && !isManaged(node)) await deps.uncordon(name, signal);
      return undefined;
    }
    if (node === undefined) return forgetNode(tools, state, signal);

    const task = { node, state, signal };
    // A node that left the node set has no daemon that could withdraw the request.
    const request = hasLeftNodeSet(node) ? drainRequests.idle : requestFor(node, state.drain);
    const answer = answerOf(state.drain);
    if (answer !== drainAnswers.draining || state.drain.isExternal) drainer.leave(name);
    if (state.drain.isExternal) return leaveToExternalDrainer(tools, task);

    // Upstream's daemon makes no request until both annotations exist. States for SR-IOV that this operator creates have them.
    const missing = missingAnnotations(state.drain);
    const isWithoutDrains = state.type === afxdpNetworkNodeStates && request === drainRequests.idle;
    if (missing.length > 0 && !isWithoutDrains) return handshake.makeIdle(missing, state, signal);

    if (request === drainRequests.idle) {
      return answer === drainAnswers.idle ? cleanUp(tools, task) : release(tools, task);
    }
    if (answer === drainAnswers.idle) return reportWait(tools, task);
    if (answer === drainAnswers.draining) return drain(tools, task, request);
    if (wasDrainedFor(request, state.drain)) return watchDaemon(tools, task);
    // The daemon now needs more than was drained. The node keeps its slot and is drained again.
    return handshake.answer(state, { from: drainAnswers.complete, to: drainAnswers.draining }, signal);
  };

  function isManaged(node: Node): boolean {
    const rules = deps.rules();
    return rules !== undefined && isInNodeSet(node, rules);
  }

  /** Without a SriovOperatorConfig no drain begins, but drains that have begun continue while their state exists. */
  function hasLeftNodeSet(node: Node): boolean {
    return deps.rules() !== undefined && !isManaged(node);
  }
}

/**
 * Resets the handshake of a node that is gone, together with the daemon that made the request. A node that later joins
 * under the same name starts without a request and without a slot.
 */
async function forgetNode(
  { drainer, handshake, reporter }: DrainTools,
  state: DrainCarrier,
  signal: AbortSignal,
): Promise<Requeue | undefined> {
  const { name, drain: facts } = state;
  drainer.leave(name);
  handshake.forget(name);
  if (facts.isExternal) return undefined;
  const request = facts.desired ?? drainRequests.idle;
  const isIdle = request === drainRequests.idle && answerOf(facts) === drainAnswers.idle;
  const both = [annotations.desiredState, annotations.currentState];
  const requeue = isIdle ? undefined : await handshake.makeIdle(both, state, signal);
  if (requeue === undefined) await reporter.withdraw(state, signal);
  return requeue;
}

/**
 * An external drainer continues a drain that the operator had begun. The operator's marks on the Node remain its own to
 * remove.
 */
async function leaveToExternalDrainer(tools: DrainTools, task: DrainTask): Promise<Requeue | undefined> {
  const { node, state, signal } = task;
  const isIdle = requestFor(node, state.drain) === drainRequests.idle && answerOf(state.drain) === drainAnswers.idle;
  if (isIdle) return cleanUp(tools, task);
  await tools.reporter.withdraw(state, signal);
  return undefined;
}

/** Removes all marks and conditions of drains, because none is requested. */
async function cleanUp(tools: DrainTools, { node, state, signal }: DrainTask): Promise<Requeue | undefined> {
  if (hasDrainMarks(node)) {
    if (!(await tools.handshake.isCurrent(state, signal))) return recheckSoon;
    await tools.uncordon(state.name, signal);
  }
  await tools.reporter.withdraw(state, signal);
  return undefined;
}

/** Reports the position of a node that waits for a slot. */
async function reportWait(
  { positions, reporter }: DrainTools,
  { state, signal }: DrainTask,
): Promise<Requeue | undefined> {
  const position = positions.get(state.name);
  if (position === undefined) return undefined;
  return soonest(await reporter.report(state, { kind: "waiting", position }, signal));
}

async function drain(tools: DrainTools, task: DrainTask, needed: DrainNeed): Promise<Requeue | undefined> {
  const { handshake, reporter, drainer, nowMs } = tools;
  const { node, state, signal } = task;
  if (!(await handshake.isCurrent(state, signal))) return recheckSoon;
  const sinceMs = reporter.drainingSinceMs(state);
  const devices = devicesOf(tools, task);
  const { phase, afterMs } = await drainer.step(node, { needed, sinceMs: sinceMs ?? nowMs(), devices }, signal);
  // A new leader that has not listed the pods yet knows less than the conditions say already, and reports only
  // lateness.
  const isLess = phase.kind === "draining" && phase.leaving === undefined && !phase.isLate && sinceMs !== undefined;
  // The report precedes the answer, so that a reader of the answer finds how much was drained.
  const unreportedMs = isLess ? Infinity : await reporter.report(state, phase, signal);
  if (phase.kind !== "complete") return soonest(afterMs, unreportedMs);
  // The request may be about other VFs meanwhile. A drain of the node covers them, too.
  const vfs = phase.pfs === undefined ? undefined : devices?.vfs;
  return handshake.answer(state, { from: drainAnswers.draining, to: drainAnswers.complete, vfs }, signal);
}

/** The VFs whose pods must leave; undefined if all pods that use VFs must leave. */
function devicesOf({ rules }: DrainTools, { node, state }: DrainTask): DrainCarrier["deviceDrain"] {
  const live = rules();
  // A script that annotates only the Node asks for a drain of the node.
  const isOfDaemon = state.drain.desired === drainRequests.drain;
  return live !== undefined && isOfDaemon && drainsByDevice(node, live) ? state.deviceDrain : undefined;
}

/** Reports whether the daemon of a drained node makes progress. */
async function watchDaemon(
  { reporter, nowMs }: DrainTools,
  { state, signal }: DrainTask,
): Promise<Requeue | undefined> {
  const slot = heldSlot(state, nowMs());
  return soonest(slot?.stallsInMs ?? Infinity, await reporter.reportStall(state, slot?.stall, signal));
}

/** Ends the drain. The slot becomes free only after the node can run pods again. */
async function release(tools: DrainTools, { state, signal }: DrainTask): Promise<Requeue | undefined> {
  const { handshake, reporter, drainer } = tools;
  drainer.leave(state.name);
  if (!(await handshake.isCurrent(state, signal))) return recheckSoon;
  const isSchedulable = await tools.uncordon(state.name, signal);
  const step = { from: answerOf(state.drain), to: drainAnswers.idle };
  const requeue = await handshake.answer(state, step, signal);
  if (requeue !== undefined) return requeue;
  const note = isSchedulable
    ? "the drain has ended; the node is schedulable"
    : "the drain has ended; the node stays unschedulable because the operator did not cordon it";
  reporter.recordEvent(state, { type: "Normal", reason: eventReasons.drainReleased, note });
  await reporter.withdraw(state, signal);
  return undefined;
}

function soonest(...timesMs: readonly number[]): Requeue | undefined {
  const afterMs = Math.min(...timesMs);
  return Number.isFinite(afterMs) ? { afterMs } : undefined;
}
