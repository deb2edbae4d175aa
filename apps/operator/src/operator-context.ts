// SPDX-License-Identifier: Apache-2.0
/**
 * OperatorContext is what all controllers of the operator share: the transport while the replica leads, the caches, and
 * the function that starts a controller. Each group of controllers is started by one function that takes it.
 */
import type { HasAge, Controller, ControllerOptions, EventRecorder, Transport } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";
import type { AfxdpLiveRules } from "./facts/afxdp-live-rules.ts";
import type { ClusterCaches } from "./cluster-caches.ts";
import type { LiveRules } from "./facts/live-rules.ts";
import type { MergeResults } from "./results/merge-results.ts";
import type { OperatorSettings } from "./start/operator-settings.ts";

export interface OperatorContext {
  /** Refuses requests once the lease is lost. */
  readonly transport: Transport;
  readonly settings: OperatorSettings;
  readonly caches: ClusterCaches;
  readonly rules: LiveRules;
  readonly afxdpRules: AfxdpLiveRules;
  readonly mergeResults: MergeResults;
  readonly events: EventRecorder;
  readonly log: Logger;
  /** The wall clock of the API server, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** As nowMs. */
  readonly now: () => Date;
  /** Aborted when the controllers must stop at once. */
  readonly signal: AbortSignal;
  /**
   * Starts a controller, which runs until the operator stops or loses the Lease. It reconciles only after all of
   * `context.caches`, or the controller's own `caches`, are synced, and while none of the caches in `reads` is stale.
   */
  readonly start: (controller: ControllerDefinition) => Pick<Controller, "whenIdle">;
  /** Adds caches outside of `context.caches` to the metric of cache ages. */
  readonly showAges: (caches: Pick<HasAge, "ages">) => void;
}

/** Kind of the objects that the keys of a controller name. Undefined stands for the SriovOperatorConfig. */
export type About = "node" | "policy" | "pool" | "network" | "afxdp-node" | "afxdp-policy";

/** Options of a controller, without those that all controllers share. */
export interface ControllerDefinition extends Pick<
  ControllerOptions,
  "name" | "reconcile" | "sources" | "caches" | "parallel" | "deadlineMs" | "debounceMs" | "maxDebounceMs"
> {
  /** The caches that it reads. It does not run while one of them is stale, because objects may be missing from it. */
  readonly reads: readonly HasAge[];
  /** Kind of the objects that its keys name, on which failures are reported (status/failure-reports.ts). */
  readonly about?: About;
}
