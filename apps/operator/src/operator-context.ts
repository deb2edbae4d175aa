// SPDX-License-Identifier: Apache-2.0
/**
 * What every controller of the operator gets: how to reach the API server while we lead, what is known of the cluster, and
 * how a controller is started. One group of controllers is one function of it.
 * Usage: `export function startNetworkControllers(context: OperatorContext): void { context.start({ name, … }); }`
 */
import type { Ageing, Controller, ControllerOptions, EventRecorder, Transport } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";
import type { ClusterCaches } from "./cluster-caches.ts";
import type { About } from "./status/failure-reports.ts";
import type { LiveRules } from "./node-states/live-rules.ts";
import type { OperatorSettings } from "./start/operator-settings.ts";
import type { MergeResults } from "./node-states/merge-results.ts";

export interface OperatorContext {
  /** Refuses requests once the lease is lost. */
  readonly transport: Transport;
  readonly settings: OperatorSettings;
  readonly caches: ClusterCaches;
  readonly rules: LiveRules;
  readonly mergeResults: MergeResults;
  readonly events: EventRecorder;
  readonly log: Logger;
  /** Aborted when all must stop at once. */
  readonly signal: AbortSignal;
  /**
   * Runs until the operator stops or no longer leads; nothing runs before all of `context.caches` are synced, unless the
   * controller names `caches`, or while one of those that it reads is stale.
   */
  readonly start: (controller: ControllerDefinition) => Pick<Controller, "whenIdle">;
  /** Shows the age of caches that are not in `caches`. */
  readonly showAges: (caches: Pick<Ageing, "ages">) => void;
}

/** A controller without what all of them share. */
export interface ControllerDefinition extends Pick<
  ControllerOptions,
  "name" | "reconcile" | "sources" | "caches" | "parallel" | "deadlineMs" | "debounceMs" | "maxDebounceMs"
> {
  /** All that it reads. What a stale cache lacks may be there, so nobody acts by one. */
  readonly reads: readonly Ageing[];
  /** What its keys are about, where they name objects: there its failures are reported (failure-reports.ts). */
  readonly about?: About;
}
