// SPDX-License-Identifier: Apache-2.0
/**
 * The drain handshake as it stands on a node's objects (sriov-operator.md G).
 * Usage: `const facts = toDrainFacts(state); if (requestFor(node, facts) !== "Idle") …`.
 */
import {
  annotations,
  conditionTypes,
  drainReasons,
  type Condition,
  type DrainAnswer,
  type DrainRequest,
  type Node,
  type SriovNetworkNodeState,
} from "@switchyard/api";

/** A drain: of the pods that hold VFs, or of all pods, before a reboot. */
export type DrainNeed = Exclude<DrainRequest, "Idle">;

/** What of a SriovNetworkNodeState matters for drains. */
export interface DrainFacts {
  /** annotations.desiredState as it is; absent where it is missing. */
  readonly desired?: string;
  /** annotations.currentState as it is; absent where it is missing. */
  readonly current?: string;
  /** Somebody else drains this node. */
  readonly isExternal: boolean;
  /** Those that we write. */
  readonly conditions: readonly Condition[];
}

export function toDrainFacts({ metadata, status }: Pick<SriovNetworkNodeState, "metadata" | "status">): DrainFacts {
  const {
    [annotations.desiredState]: desired,
    [annotations.currentState]: current,
    [annotations.useExternalDrainer]: external,
  } = metadata.annotations ?? {};
  return {
    ...(desired === undefined ? {} : { desired }),
    ...(current === undefined ? {} : { current }),
    isExternal: external === "true",
    conditions: (status?.conditions ?? []).filter(({ type }) => drainTypes.has(type)),
  };
}

/**
 * What the daemon asks for. It writes on two objects, one after the other: the stronger one holds, so that a request
 * counts from its first write to its last, and one who writes on the Node alone is heard, as upstream's operator hears him.
 */
export function requestFor(node: Node, { desired }: DrainFacts): DrainRequest {
  const asked = [desired, node.metadata.annotations?.[annotations.nodeState]];
  return strengths.find((request) => asked.includes(request)) ?? "Idle";
}

/** What was answered; what is missing or no answer is Idle. */
export function answerOf({ current }: DrainFacts): DrainAnswer {
  return current === "Draining" || current === "DrainComplete" ? current : "Idle";
}

/** Those of the NodeState that are not there, or say nothing that is known. */
export function missingAnnotations({ desired, current }: DrainFacts): readonly string[] {
  return [
    ...(desired === undefined ? [annotations.desiredState] : []),
    ...(current !== undefined && answersKnown.has(current) ? [] : [annotations.currentState]),
  ];
}

/** Whether the drain that is complete was of all that has to go. One of which nothing is known was not. */
export function wasDrainedFor(needed: DrainNeed, { conditions }: DrainFacts): boolean {
  if (needed === "Drain_Required") return true;
  const complete = holding(conditions, conditionTypes.drainComplete);
  return complete?.reason === drainReasons.allPodsGone || complete?.reason === drainReasons.onlyNode;
}

/** Since when the node waits for its turn, as far as that was written. */
export function waitingSince({ conditions }: DrainFacts): string | undefined {
  const progressing = conditions.find(({ type }) => type === conditionTypes.drainProgressing);
  return progressing !== undefined && isWaiting(progressing) ? progressing.lastTransitionTime : undefined;
}

/** Whether this DrainProgressing says that the drain has not begun. */
export function isWaiting({ status, reason }: Condition): boolean {
  return status === "False" && (reason === drainReasons.waitingForSlot || reason === drainReasons.heldByPool);
}

/** The condition that says so, if it holds. */
export function holding(conditions: readonly Condition[], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === "True");
}

const strengths = ["Reboot_Required", "Drain_Required"] as const;

const answersKnown: ReadonlySet<string> = new Set(["Idle", "Draining", "DrainComplete"]);

const drainTypes: ReadonlySet<string> = new Set([
  conditionTypes.drainProgressing,
  conditionTypes.drainDegraded,
  conditionTypes.drainComplete,
]);
