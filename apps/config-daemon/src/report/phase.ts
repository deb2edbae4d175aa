// SPDX-License-Identifier: Apache-2.0
/**
 * Defines the phases of a node on the way to its spec, and maps them to upstream's fields syncStatus and lastSyncError. All
 * functions are pure.
 */
import { cutText, maxMessageBytes } from "@switchyard/kube";
import { describeProblem, type PlanProblem, type Reason } from "@switchyard/plan";

/** The state of the node relative to its spec. */
export type Phase = PhaseKind & {
  /** Describes the steps that hang in the kernel. The phase covers everything else. */
  readonly hanging?: readonly string[];
};

type PhaseKind =
  /** The node matches its spec except for `problems`. */
  | { readonly kind: "settled"; readonly problems: readonly PlanProblem[] }
  | { readonly kind: "configuring"; readonly stepCount: number }
  | { readonly kind: "waiting-for-drain"; readonly reasons: readonly Reason[] }
  | { readonly kind: "rebooting"; readonly causes: readonly string[] }
  /** The host refused steps, which are retried. */
  | {
      readonly kind: "failed";
      readonly failures: readonly { readonly message: string }[];
      readonly problems: readonly PlanProblem[];
    }
  | { readonly kind: "discovery-failed"; readonly message: string }
  /** The pass ended by an unexpected error, such as a request that the API server refused, or a bug. It is retried. */
  | { readonly kind: "pass-failed"; readonly message: string };

/** All values of status.syncStatus after the first report. */
export const syncStatuses = ["Succeeded", "InProgress", "Failed"] as const;
export type SyncStatus = (typeof syncStatuses)[number];

export function syncStatusOf(phase: Phase): SyncStatus {
  switch (phase.kind) {
    case "settled":
      return errorOf(phase) === "" ? "Succeeded" : "Failed";
    case "configuring":
    case "waiting-for-drain":
    case "rebooting":
      return "InProgress";
    case "failed":
    case "discovery-failed":
    case "pass-failed":
      return "Failed";
  }
}

/** Returns one line for lastSyncError, conditions and events: hanging steps, then failed steps, then problems of the spec. */
export function errorOf(phase: Phase): string {
  return cutText([...(phase.hanging ?? []), ...errorsOf(phase)].join("; "), maxMessageBytes);
}

function errorsOf(phase: PhaseKind): readonly string[] {
  switch (phase.kind) {
    case "settled":
      return phase.problems.map(describeProblem);
    case "failed":
      return [...phase.failures.map(({ message }) => message), ...phase.problems.map(describeProblem)];
    case "discovery-failed":
    case "pass-failed":
      return [phase.message];
    case "configuring":
    case "waiting-for-drain":
    case "rebooting":
      return [];
  }
}
