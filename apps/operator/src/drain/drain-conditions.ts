// SPDX-License-Identifier: Apache-2.0
/**
 * A node's drain, told to people: the three drain conditions, which are there while a drain is asked for. Pure.
 * Usage: `drainConditions(existing, { kind: "draining", … }, new Date())`.
 *
 * Two of them are also our memory over restarts: DrainProgressing has when the node began to wait, and then since when
 * it is drained; the reason of DrainComplete has how much was drained.
 */
import { conditionTypes, drainReasons, type Condition } from "@switchyard/api";
import { setCondition } from "@switchyard/kube";
import type { Place } from "./slots/plan-drains.ts";
import { holding, isWaiting } from "./drain-facts.ts";
import type { Stall } from "./slots/held-slot.ts";
import type { PodFacts } from "./eviction/pod-facts.ts";

/** Where a drain stands. */
export type DrainPhase =
  | { readonly kind: "waiting"; readonly place: Place }
  | { readonly kind: "pausing"; readonly message: string }
  | {
      readonly kind: "draining";
      /** Pods that must go; undefined while they are not known. */
      readonly leaving: readonly PodFacts[] | undefined;
      /** Those that the API server refuses to evict, and its words. */
      readonly refused: readonly RefusedEviction[];
      /** It takes too long. */
      readonly isLate: boolean;
    }
  | { readonly kind: "complete"; readonly reason: DrainOutcome; readonly staying: readonly PodFacts[] };

export interface RefusedEviction {
  readonly pod: PodFacts;
  readonly message: string;
}

/** How much was drained: one of drainReasons. */
export type DrainOutcome =
  typeof drainReasons.vfPodsGone | typeof drainReasons.allPodsGone | typeof drainReasons.onlyNode;

/** All three of them. `existing` are those that were written before, if any. */
export function drainConditions(existing: readonly Condition[], phase: DrainPhase, now: Date): readonly Condition[] {
  const { status, reason, message } = verdictOf(phase);
  const verdicts: readonly Verdict[] = [
    { type: conditionTypes.drainProgressing, status: status === "progressing" ? "True" : "False", reason, message },
    degradedOf(phase, { reason, message }),
    { type: conditionTypes.drainComplete, status: status === "complete" ? "True" : "False", reason, message },
  ];
  // The time of a wait is its beginning, not that of a drain that was over before it.
  const progressing = existing.find(({ type }) => type === conditionTypes.drainProgressing);
  const isNewWait = status === "waiting" && progressing !== undefined && !isWaiting(progressing);
  // What people read is what decides on the turn.
  const at = phase.kind === "waiting" ? new Date(phase.place.askedMs) : now;
  return verdicts.reduce<readonly Condition[]>(
    (conditions, verdict) => setCondition(conditions, verdict, at),
    isNewWait ? [] : existing,
  );
}

/** The same with what is known of the daemon of a node that is drained. */
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

/** Pod names, three of them at most. */
export function listPods(pods: readonly PodFacts[]): string {
  return listNames(pods.map(nameOf).sort());
}

/** Of a drain that upstream's operator, or somebody else, called complete. */
const unknownOutcome = { reason: drainReasons.draining, message: "" };

type Verdict = Omit<Condition, "lastTransitionTime">;
type Words = Pick<Verdict, "reason" | "message">;

function verdictOf(phase: DrainPhase): Words & { readonly status: "waiting" | "progressing" | "complete" } {
  switch (phase.kind) {
    case "waiting": {
      const reason = phase.place.kind === "held" ? drainReasons.heldByPool : drainReasons.waitingForSlot;
      return { status: "waiting", reason, message: describePlace(phase.place) };
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

function degradedOf(phase: DrainPhase, words: Words): Verdict {
  const isLate = phase.kind === "draining" && phase.isLate;
  const type = conditionTypes.drainDegraded;
  return isLate
    ? { type, status: "True", reason: drainReasons.podsStay, message: words.message }
    : { type, status: "False", ...words };
}

function describePlace(place: Place): string {
  const { title } = place.pool;
  if (place.kind === "held") return `${title} allows no drains: ${place.why}`;
  const { before, taking, pool } = place;
  const limit = pool.limit.ok ? pool.limit.value : 0;
  // Far back in the queue the numbers are round, or each step of the queue would be a write to each node that waits.
  const far = rounds.find((round) => before >= round);
  if (far !== undefined) return `waiting for a free slot in ${title} (limit ${limit}): ${far} or more nodes ahead`;
  const queue = before === 0 ? "next in line" : `${before} ${before === 1 ? "node" : "nodes"} ahead`;
  const who = taking.length === 0 ? "" : ` (${listNames(taking)})`;
  return `waiting for a free slot in ${title}: ${taking.length} of ${limit} draining${who}, ${queue}`;
}

const rounds = [1000, 500, 200, 100, 50, 20, 10];

function describeProgress({ leaving, refused, isLate }: Extract<DrainPhase, { kind: "draining" }>): string {
  if (leaving === undefined) return "listing the pods of the node";
  const left = `${leaving.length} ${leaving.length === 1 ? "pod" : "pods"} left`;
  const [first, ...others] = refused.toSorted((a, b) => (nameOf(a.pod) < nameOf(b.pod) ? -1 : 1));
  if (first === undefined) return `${left}: ${(isLate ? describeEnd(leaving) : undefined) ?? listPods(leaving)}`;
  const rest = others.length === 0 ? "" : `; ${others.length} more cannot be evicted now`;
  return `${left}: ${nameOf(first.pod)} cannot be evicted now: ${first.message}${rest}`;
}

/** Of the pod that has been ending for longest: its kubelet does not end it, or something keeps it. */
function describeEnd(leaving: readonly PodFacts[]): string | undefined {
  const ending = leaving.flatMap((pod) => (pod.endsBy === undefined ? [] : [{ pod, endsBy: pod.endsBy }]));
  const [first] = ending.sort((a, b) => (a.endsBy < b.endsBy ? -1 : 1));
  if (first === undefined) return undefined;
  const { pod, endsBy } = first;
  const kept = pod.finalizers.length === 0 ? "" : `, held by finalizer ${listNames(pod.finalizers)}`;
  return `${nameOf(pod)} is being deleted, with grace until ${endsBy}${kept}`;
}

function describeOutcome({ reason, staying }: Extract<DrainPhase, { kind: "complete" }>): string {
  const lost = staying.length === 0 ? "" : `; these pods stay on the node and may lose their VFs: ${listPods(staying)}`;
  return `${outcomes[reason]}${lost}`;
}

const outcomes: Readonly<Record<DrainOutcome, string>> = {
  [drainReasons.vfPodsGone]: "all evictable pods that use VFs are gone",
  [drainReasons.allPodsGone]: "all pods are gone except static pods and pods of DaemonSets",
  [drainReasons.onlyNode]: "the only node of the cluster reboots without a drain",
};

function nameOf({ namespace, name }: PodFacts): string {
  return `${namespace}/${name}`;
}

function listNames(names: readonly string[]): string {
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}
