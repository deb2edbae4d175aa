// SPDX-License-Identifier: Apache-2.0
/**
 * CachedDrain is the drain handshake between config daemon and operator, as read from the annotations and conditions of
 * a SriovNetworkNodeState (sriov-operator.md G) or AfxdpNetworkNodeState (drain-carriers.ts).
 */
import {
  annotations,
  conditionTypes,
  defined,
  drainAnswers,
  drainReasons,
  drainRequests,
  type Condition,
  type DrainAnswer,
  type DrainNeed,
  type DrainRequest,
  type Node,
  type ObjectMeta,
} from "@switchyard/api";

/** The fields of a node state that drains depend on. */
export interface CachedDrain {
  /** Value of annotations.desiredState, valid or not. Absent if the annotation is missing. */
  readonly desired?: string;
  /** Value of annotations.currentState, valid or not. Absent if the annotation is missing. */
  readonly current?: string;
  /** Whether an external drainer drains this node. */
  readonly isExternal: boolean;
  /** The drain conditions, which the operator writes. */
  readonly conditions: readonly Condition[];
}

/** A node state, or its metadata only. */
export interface DrainSource {
  readonly metadata: ObjectMeta;
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

export function toCachedDrain({ metadata, status }: DrainSource): CachedDrain {
  const {
    [annotations.desiredState]: desired,
    [annotations.currentState]: current,
    [annotations.useExternalDrainer]: external,
  } = metadata.annotations ?? {};
  return {
    ...defined({ desired, current }),
    isExternal: external === "true",
    conditions: (status?.conditions ?? []).filter(({ type }) => drainTypes.has(type)),
  };
}

/**
 * Returns the daemon's request. The daemon writes it on two objects, one after the other. The stronger of the two
 * values counts, so a request holds from the first write to the last. A script that writes only the Node's annotation
 * is also served, as by upstream's operator.
 */
export function requestFor(node: Node, { desired }: CachedDrain): DrainRequest {
  const requested = [desired, node.metadata.annotations?.[annotations.nodeState]];
  return strongestFirst.find((request) => requested.includes(request)) ?? drainRequests.idle;
}

/** Returns the handshake of a new node state. The node may be in a drain, in which its previous node state was deleted. */
export function firstHandshake(node: Node): Readonly<Record<string, string>> {
  return { [annotations.desiredState]: requestFor(node, notDraining), [annotations.currentState]: drainAnswers.idle };
}

/** Returns the answer. A missing or unknown value counts as Idle. */
export function answerOf({ current }: CachedDrain): DrainAnswer {
  return Object.values(drainAnswers).find((answer) => answer === current) ?? drainAnswers.idle;
}

/** Returns the keys of the handshake annotations that are missing, or, for the answer, have an unknown value. */
export function missingAnnotations({ desired, current }: CachedDrain): readonly string[] {
  const isKnown = Object.values(drainAnswers).some((answer) => answer === current);
  return [...(desired === undefined ? [annotations.desiredState] : []), ...(isKnown ? [] : [annotations.currentState])];
}

/** Reports whether the completed drain covers `needed`. If its scope is unknown, it does not cover a reboot. */
export function wasDrainedFor(needed: DrainNeed, { conditions }: CachedDrain): boolean {
  if (needed === drainRequests.drain) return true;
  const complete = holding(conditions, conditionTypes.drainComplete);
  return complete?.reason === drainReasons.allPodsGone || complete?.reason === drainReasons.onlyNode;
}

/** Returns since when the node waits for a slot (RFC 3339), or undefined if the conditions do not say. */
export function waitingSince({ conditions }: CachedDrain): string | undefined {
  const progressing = conditions.find(({ type }) => type === conditionTypes.drainProgressing);
  return progressing !== undefined && isWaiting(progressing) ? progressing.lastTransitionTime : undefined;
}

/** Reports whether this DrainProgressing condition says that the drain has not begun. */
export function isWaiting({ status, reason }: Condition): boolean {
  return status === "False" && (reason === drainReasons.waitingForSlot || reason === drainReasons.heldByPool);
}

/** Returns the condition of this type if its status is True. */
export function holding(conditions: readonly Condition[], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === "True");
}

const notDraining: CachedDrain = { isExternal: false, conditions: [] };

const strongestFirst = [drainRequests.reboot, drainRequests.drain] as const;

const drainTypes: ReadonlySet<string> = new Set([
  conditionTypes.drainProgressing,
  conditionTypes.drainDegraded,
  conditionTypes.drainComplete,
]);
