// SPDX-License-Identifier: Apache-2.0
/**
 * Where a node stands with its spec at a moment of its life, and what upstream's two fields say of it. Pure.
 * Usage: `syncStatusOf({ kind: "settled", problems: [] })` is "Succeeded".
 */
import { cutText, maxMessageBytes } from "@switchyard/kube";
import { describeProblem, type PlanProblem, type Reason } from "@switchyard/plan";

/** Where the node stands with its spec. */
export type Phase = Stage & {
  /** Steps that hang in the kernel, in words; what the stage says is of all else. */
  readonly hanging?: readonly string[];
};

type Stage =
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
  | { readonly kind: "discovery-failed"; readonly message: string }
  /** The pass ended by an error that it does not know: a refusal of the API server, or a bug. It is tried again. */
  | { readonly kind: "pass-failed"; readonly message: string };

/** All that status.syncStatus can be once there was a report. */
export const syncStatuses = ["Succeeded", "InProgress", "Failed"] as const;
export type SyncStatus = (typeof syncStatuses)[number];

export function syncStatusOf(phase: Phase): SyncStatus {
  switch (phase.kind) {
    case "settled":
      return errorOf(phase) === "" ? "Succeeded" : "Failed";
    case "configuring":
    case "waiting-for-drain":
      return "InProgress";
    case "failed":
    case "discovery-failed":
    case "pass-failed":
      return "Failed";
  }
}

/** One line for lastSyncError, conditions and events: what hangs, then the host's refusals, then what cannot be. */
export function errorOf(phase: Phase): string {
  return cutText([...(phase.hanging ?? []), ...errorsOf(phase)].join("; "), maxMessageBytes);
}

function errorsOf(stage: Stage): readonly string[] {
  switch (stage.kind) {
    case "settled":
      return stage.problems.map(describeProblem);
    case "failed":
      return [...stage.failures.map(({ message }) => message), ...stage.problems.map(describeProblem)];
    case "discovery-failed":
    case "pass-failed":
      return [stage.message];
    case "configuring":
    case "waiting-for-drain":
      return [];
  }
}
