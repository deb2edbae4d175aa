// SPDX-License-Identifier: Apache-2.0
/**
 * drainConditions computes the three drain conditions of a SriovNetworkNodeState, which exist while a drain is
 * requested. Pure.
 *
 * Two of the conditions also store state over restarts: lastTransitionTime of DrainProgressing is when the node began
 * to wait, and later since when it is drained. The reason of DrainComplete is the scope of the drain.
 */
import { conditionTypes, drainReasons, type Condition } from "@switchyard/api";
import { setCondition, setConditions, type NewCondition } from "@switchyard/kube";
import { holding, isWaiting } from "../facts/cached-drain.ts";
import type { DrainedPod } from "@switchyard/policy";
import type { Stall } from "../facts/held-slot.ts";
import type { QueuePosition } from "./slots/plan-drains.ts";

/** Progress of a drain. */
export type DrainPhase =
  | { readonly kind: "waiting"; readonly position: QueuePosition }
  | { readonly kind: "pausing"; readonly message: string }
  | {
      readonly kind: "draining";
      /** Pods that must leave the node; undefined until the pods are listed. */
      readonly leaving: readonly DrainedPod[] | undefined;
      /** Pods whose eviction the API server refuses. */
      readonly refused: readonly RefusedEviction[];
      /** Whether the drain takes longer than expected. */
      readonly isLate: boolean;
      /** Absent if all pods that use VFs must leave. */
      readonly byDevice?: DeviceProgress;
    }
  | {
      readonly kind: "complete";
      readonly reason: DrainOutcome;
      readonly staying: readonly DrainedPod[];
      /** PCI addresses of the PFs, if only pods with their VFs left. */
      readonly pfs?: readonly string[];
    };

/** Progress of a drain of single VFs. */
export interface DeviceProgress {
  /** PCI addresses of their PFs. */
  readonly pfs: readonly string[];
  /** Pods that are deleted, but still have VFs, by "namespace/name". */
  readonly gone: readonly string[];
  /** Why it is not known which pods have the VFs; absent if it is known. */
  readonly unknown?: string;
}

export interface RefusedEviction {
  readonly pod: DrainedPod;
  readonly message: string;
}

/** Scope of a completed drain: one of drainReasons. */
export type DrainOutcome =
  typeof drainReasons.vfPodsGone | typeof drainReasons.allPodsGone | typeof drainReasons.onlyNode;

/** Returns all three conditions. `existing` are the drain conditions that the state has. */
export function drainConditions(existing: readonly Condition[], phase: DrainPhase, now: Date): readonly Condition[] {
  const { status, reason, message } = describePhase(phase);
  const next: readonly NewCondition[] = [
    { type: conditionTypes.drainProgressing, status: status === "progressing" ? "True" : "False", reason, message },
    degradedCondition(phase, { reason, message }),
    { type: conditionTypes.drainComplete, status: status === "complete" ? "True" : "False", reason, message },
  ];
  // A wait has its own beginning: it does not inherit the time of a drain that ended before it.
  const progressing = existing.find(({ type }) => type === conditionTypes.drainProgressing);
  const isNewWait = status === "waiting" && progressing !== undefined && !isWaiting(progressing);
  // lastTransitionTime of a wait is the time by which the queue is ordered.
  const at = phase.kind === "waiting" ? new Date(phase.position.requestedMs) : now;
  return setConditions(isNewWait ? [] : existing, next, { now: at });
}

/** Returns the conditions of a drained node, with DrainDegraded set from the `stall` of its daemon. */
export function stallConditions(
  existing: readonly Condition[],
  stall: Stall | undefined,
  now: Date,
): readonly Condition[] {
  const type = conditionTypes.drainDegraded;
  if (stall !== undefined) {
    const reason = drainReasons.daemonStalled;
    return setCondition(existing, { type, status: "True", reason, message: stall.message }, now);
  }
  if (holding(existing, type) === undefined) return existing;
  const { reason, message } = holding(existing, conditionTypes.drainComplete) ?? unknownOutcome;
  return setCondition(existing, { type, status: "False", reason, message }, now);
}

/** Lists at most three pods by "namespace/name", and the number of the others. */
export function listPods(pods: readonly DrainedPod[]): string {
  return listNames(pods.map(nameOf).sort());
}

/** For a drain that upstream's operator or an external drainer completed. */
const unknownOutcome = { reason: drainReasons.draining, message: "" };

type Description = Pick<NewCondition, "reason" | "message">;

function describePhase(phase: DrainPhase): Description & { readonly status: "waiting" | "progressing" | "complete" } {
  switch (phase.kind) {
    case "waiting": {
      const reason = phase.position.kind === "held" ? drainReasons.heldByPool : drainReasons.waitingForSlot;
      return { status: "waiting", reason, message: describePosition(phase.position) };
    }
    case "pausing":
      return {
        status: "progressing",
        reason: drainReasons.waitingForMachineConfigPool,
        message: phase.message,
      };
    case "draining": {
      const reason = phase.leaving === undefined ? drainReasons.lookingForPods : drainReasons.evictingPods;
      return { status: "progressing", reason, message: describeProgress(phase) };
    }
    case "complete":
      return { status: "complete", reason: phase.reason, message: describeOutcome(phase) };
  }
}

function degradedCondition(phase: DrainPhase, description: Description): NewCondition {
  const isLate = phase.kind === "draining" && phase.isLate;
  const type = conditionTypes.drainDegraded;
  return isLate
    ? { type, status: "True", reason: drainReasons.podsStay, message: description.message }
    : { type, status: "False", ...description };
}

function describePosition(position: QueuePosition): string {
  const { title } = position.pool;
  if (position.kind === "held") return `${title} allows no drains: ${position.reason}`;
  const { ahead, holders, pool } = position;
  const limit = pool.limit.ok ? pool.limit.value : 0;
  // Far back in the queue the number is rounded down. Otherwise each step of the queue would write to each waiting
  // node.
  const far = roundNumbers.find((round) => ahead >= round);
  if (far !== undefined) return `waiting for a free slot in ${title} (limit ${limit}): ${far} or more nodes ahead`;
  const behind = ahead === 1 ? "1 node ahead" : `${ahead} nodes ahead`;
  const queue = ahead === 0 ? "next in line" : behind;
  const names = holders.length === 0 ? "" : ` (${listNames(holders)})`;
  return `waiting for a free slot in ${title}: ${holders.length} of ${limit} draining${names}, ${queue}`;
}

const roundNumbers = [1000, 500, 200, 100, 50, 20, 10];

function describeProgress(phase: Extract<DrainPhase, { kind: "draining" }>): string {
  const { leaving, refused, isLate, byDevice } = phase;
  if (leaving === undefined) return "listing the pods of the node";
  if (byDevice !== undefined && leaving.length === 0) return describeWait(byDevice);
  const left = byDevice === undefined ? leftOnNode(leaving.length) : leftOf(byDevice.pfs, leaving.length);
  const [first, ...others] = refused.toSorted((a, b) => (nameOf(a.pod) < nameOf(b.pod) ? -1 : 1));
  if (first === undefined)
    return `${left}: ${(isLate ? describeTermination(leaving) : undefined) ?? listPods(leaving)}`;
  const rest = others.length === 0 ? "" : `; ${others.length} more cannot be evicted now`;
  return `${left}: ${nameOf(first.pod)} cannot be evicted now: ${first.message}${rest}`;
}

function leftOnNode(pods: number): string {
  return pods === 1 ? "1 pod left" : `${pods} pods left`;
}

function leftOf(pfs: readonly string[], pods: number): string {
  return pods === 1 ? `1 pod with VFs of ${listNames(pfs)} left` : `${pods} pods with VFs of ${listNames(pfs)} left`;
}

/** Describes what a drain waits for that has no pod to evict. */
function describeWait({ pfs, gone, unknown }: DeviceProgress): string {
  if (unknown !== undefined) return `waiting until it is known which pods have VFs of ${listNames(pfs)}: ${unknown}`;
  const have =
    gone.length === 1 ? "is deleted, but its containers still have" : "are deleted, but their containers still have";
  return `${listNames(gone)} ${have} VFs of ${listNames(pfs)}`;
}

/** Describes the pod that has been terminating for longest: its kubelet does not end it, or a finalizer keeps it. */
function describeTermination(leaving: readonly DrainedPod[]): string | undefined {
  const terminating = leaving.flatMap((pod) => (pod.endsBy === undefined ? [] : [{ pod, endsBy: pod.endsBy }]));
  const [first] = terminating.sort((a, b) => (a.endsBy < b.endsBy ? -1 : 1));
  if (first === undefined) return undefined;
  const { pod, endsBy } = first;
  const kept = pod.finalizers.length === 0 ? "" : `, held by finalizer ${listNames(pod.finalizers)}`;
  return `${nameOf(pod)} is being deleted (grace period until ${endsBy})${kept}`;
}

function describeOutcome({ reason, staying, pfs }: Extract<DrainPhase, { kind: "complete" }>): string {
  const lost = staying.length === 0 ? "" : `; these pods stay on the node and may lose their VFs: ${listPods(staying)}`;
  if (pfs === undefined) return `${outcomes[reason]}${lost}`;
  return `all evictable pods with VFs of ${listNames(pfs)} are gone, and the node stays schedulable${lost}`;
}

const outcomes: Readonly<Record<DrainOutcome, string>> = {
  [drainReasons.vfPodsGone]: "all evictable pods that use VFs are gone",
  [drainReasons.allPodsGone]: "all pods are gone except static pods and pods of DaemonSets",
  [drainReasons.onlyNode]: "the only node of the cluster reboots without a drain",
};

function nameOf({ namespace, name }: DrainedPod): string {
  return `${namespace}/${name}`;
}

function listNames(names: readonly string[]): string {
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}
