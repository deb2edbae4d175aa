// SPDX-License-Identifier: Apache-2.0
/**
 * What the node's status says of a moment of its life. Pure.
 * Usage: `statusOf({ status, generation, found, phase, now })`.
 */
import {
  conditionTypes,
  nodeStateReasons as reasons,
  type Condition,
  type InterfaceStatus,
  type SriovNetworkNodeStateStatus,
  type SystemSettings,
} from "@switchyard/api";
import { cutText, maxMessageBytes, setCondition } from "@switchyard/kube";
import { describeProblem, type PlanProblem, type Reason } from "@switchyard/plan";

/** Where the node stands with its spec. */
export type Phase =
  /** All that is asked is there, but for `problems`. */
  | { readonly kind: "settled"; readonly problems: readonly PlanProblem[] }
  | { readonly kind: "configuring"; readonly stepCount: number }
  | { readonly kind: "waiting-for-drain"; readonly reasons: readonly Reason[] }
  /** The host refused steps; they are tried again. */
  | {
      readonly kind: "failed";
      readonly failures: readonly { readonly message: string }[];
      readonly problems: readonly PlanProblem[];
    }
  | { readonly kind: "discovery-failed"; readonly message: string };

/** All that status.syncStatus can be once there was a report. */
export const syncStatuses = ["Succeeded", "InProgress", "Failed"] as const;
export type SyncStatus = (typeof syncStatuses)[number];

/** What a look at the host found. */
export interface Found {
  readonly interfaces: readonly InterfaceStatus[];
  /** As Observation has it. */
  readonly system?: SystemSettings;
  /** The boot in which all was done that can be done for now; absent on the way there. */
  readonly bootId?: string;
}

export interface ReportInput {
  /** As it was before. */
  readonly status: SriovNetworkNodeStateStatus | undefined;
  /** metadata.generation of the spec that was acted on. */
  readonly generation: number;
  /** As last observed; what is undefined stays as the status has it. */
  readonly found: Found | undefined;
  readonly phase: Phase;
  readonly now: Date;
}

/** The whole status, conditions kept in time where they do not change. */
export function statusOf(input: ReportInput): SriovNetworkNodeStateStatus {
  const { status: before, generation: observedGeneration, found, phase, now } = input;
  const { interfaces = before?.interfaces, system = before?.system, bootId: bootID = before?.bootID } = found ?? {};
  return {
    ...(interfaces === undefined ? {} : { interfaces }),
    ...(system?.rdmaMode ? { system } : {}),
    ...syncOf(phase, before?.lastSyncError ?? ""),
    conditions: conditionsOf(phase).reduce<readonly Condition[]>(
      (conditions, verdict) => setCondition(conditions, { ...verdict, observedGeneration }, now),
      (before?.conditions ?? []).filter(({ type }) => ownTypes.has(type)),
    ),
    observedGeneration,
    ...(bootID === undefined ? {} : { bootID }),
  };
}

/** Others write conditions of other types, and lose them to whoever sends them along. */
const ownTypes: ReadonlySet<string> = new Set([
  conditionTypes.ready,
  conditionTypes.progressing,
  conditionTypes.degraded,
]);

/** Upstream's two fields; its users poll them. */
function syncOf(phase: Phase, lastError: string): { readonly syncStatus: SyncStatus; readonly lastSyncError: string } {
  const syncStatus = syncStatusOf(phase);
  return { syncStatus, lastSyncError: syncStatus === "InProgress" ? lastError : errorOf(phase) };
}

export function syncStatusOf(phase: Phase): SyncStatus {
  switch (phase.kind) {
    case "settled":
      return phase.problems.length === 0 ? "Succeeded" : "Failed";
    case "configuring":
    case "waiting-for-drain":
      return "InProgress";
    case "failed":
    case "discovery-failed":
      return "Failed";
  }
}

/** One line for lastSyncError, conditions and events: the host's refusals first, then what cannot be. */
export function errorOf(phase: Phase): string {
  return cutText(wholeErrorOf(phase), maxMessageBytes);
}

function wholeErrorOf(phase: Phase): string {
  switch (phase.kind) {
    case "settled":
      return phase.problems.map(describeProblem).join("; ");
    case "failed":
      return [...phase.failures.map(({ message }) => message), ...phase.problems.map(describeProblem)].join("; ");
    case "discovery-failed":
      return phase.message;
    case "configuring":
    case "waiting-for-drain":
      return "";
  }
}

type Verdict = Pick<Condition, "type" | "status" | "reason" | "message">;

function conditionsOf(phase: Phase): readonly Verdict[] {
  const { ready, progressing, degraded } = conditionTypes;
  const set = (type: string, status: boolean, reason: string, message: string): Verdict => ({
    type,
    status: status ? "True" : "False",
    reason,
    message,
  });
  switch (phase.kind) {
    case "settled": {
      const reason = phase.problems.length === 0 ? reasons.configured : reasons.notPossible;
      const isDone = phase.problems.length === 0;
      const message = errorOf(phase);
      return [
        set(ready, isDone, reason, message),
        set(progressing, false, reason, ""),
        set(degraded, !isDone, reason, message),
      ];
    }
    case "configuring": {
      const message = `${phase.stepCount} ${phase.stepCount === 1 ? "step" : "steps"} to do`;
      return [set(ready, false, reasons.configuring, message), set(progressing, true, reasons.configuring, message)];
    }
    case "waiting-for-drain": {
      const message = phase.reasons.map(({ text }) => text).join("; ");
      return [
        set(ready, false, reasons.waitingForDrain, message),
        set(progressing, true, reasons.waitingForDrain, message),
      ];
    }
    case "failed": {
      const message = errorOf(phase);
      return [
        set(ready, false, reasons.stepFailed, message),
        set(progressing, true, reasons.stepFailed, "the failed steps are tried again"),
        set(degraded, true, reasons.stepFailed, message),
      ];
    }
    case "discovery-failed":
      return [
        set(ready, false, reasons.discoveryFailed, phase.message),
        set(degraded, true, reasons.discoveryFailed, phase.message),
      ];
  }
}
