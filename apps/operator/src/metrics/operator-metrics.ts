// SPDX-License-Identifier: Apache-2.0
/**
 * OperatorMetrics are the metrics of the controllers: reconciles, their duration and errors, and queues.
 * fleet-metrics.ts has the metrics of nodes and policies.
 */
import { conditionTypes, defined, drainAnswers, drainRequests } from "@switchyard/api";
import type { Controller, ControllerMetrics } from "@switchyard/kube";
import { Counter, Gauge, Histogram, showCacheAges, type AgeingCaches, type Registry } from "@switchyard/service";
import { createDrainCarriers } from "../drain/drain-carriers.ts";
import { answerOf, holding, type CachedDrain } from "../facts/cached-drain.ts";
import type { SchemaWatch } from "../schemas/schema-watch.ts";
import { registerComponentMetrics, type ComponentMetricsCaches } from "./component-metrics.ts";
import { registerConditionMetrics, type ConditionCaches } from "./condition-metrics.ts";
import { watchDurations, type DurationCaches } from "./duration-metrics.ts";
import { registerFleetMetrics, type FleetCaches } from "./fleet-metrics.ts";

type DrainState = "waiting" | "draining" | "complete" | "degraded" | "stalled";

/** The Lease that the leading replica of the operator holds. */
export const operatorLease = "switchyard-operator";

export interface OperatorMetrics {
  /** Returns the metrics of the controller with this name. */
  of(controller: string): ControllerMetrics;
  /** Reports the queue depth of the controller at each scrape. */
  watch(controller: Controller): void;
  /** Reports the age of caches that only the leader has. */
  watchCaches(caches: AgeingCaches): void;
  /** Reports the number of CustomResourceDefinitions that are older than the operator. */
  watchSchemas(schemas: Pick<SchemaWatch, "problems">): void;
  /** Sets switchyard_leading. At the end of the leadership, also drops controllers and caches of the leader. */
  setLeading(isLeading: boolean): void;
}

type OperatorMetricsCaches = FleetCaches & ConditionCaches & ComponentMetricsCaches & DurationCaches;

/** `watched` are the caches of all replicas. `nowMs` is the wall clock; that of the machine by default. */
export function createOperatorMetrics(
  registry: Registry,
  caches: OperatorMetricsCaches,
  watched: readonly AgeingCaches[],
  nowMs?: () => number,
): OperatorMetrics {
  const registers = [registry];
  registerFleetMetrics(registry, caches, nowMs);
  registerConditionMetrics(registry, caches);
  registerComponentMetrics(registry, caches);
  let isLeader = false;
  watchDurations(registry, caches, { isLeading: () => isLeader, ...defined({ nowMs }) });
  const carriers = createDrainCarriers(caches);
  const ofLeader = new Set<AgeingCaches>();
  showCacheAges(registry, () => [...watched, ...ofLeader]);
  const controllers = new Set<Controller>();

  const of = createReconcileMetrics(registers);
  new Gauge({
    name: "switchyard_queue_depth",
    help: "Number of keys that are due and wait for a free worker.",
    labelNames: ["controller"],
    registers,
    collect() {
      this.reset(); // a replica that has lost the Lease has no queues
      for (const { name, depth } of controllers) this.set({ controller: name }, depth);
    },
  });
  new Gauge({
    name: "switchyard_drains",
    help:
      "Number of nodes with a drain, by state: waiting for a slot, draining or complete. " +
      "Degraded nodes are also counted as draining, stalled nodes also as complete.",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, count] of countDrains(carriers.list())) this.set({ state }, count);
    },
  });
  const leading = new Gauge({
    name: "switchyard_leading",
    help: "1 on the replica that holds the Lease, else 0. The operator and ovn-offload each have a Lease.",
    labelNames: ["lease"],
    registers,
  });
  leading.set({ lease: operatorLease }, 0);

  let schemas: Pick<SchemaWatch, "problems"> | undefined;
  new Gauge({
    name: "switchyard_outdated_crds",
    help: "Number of CustomResourceDefinitions that are missing or lack fields of this release. The operator writes nothing until it is 0.",
    registers,
    collect() {
      this.set(schemas?.problems().length ?? 0);
    },
  });

  return {
    of,
    watchSchemas(watch) {
      schemas = watch;
    },
    watch(controller) {
      controllers.add(controller);
    },
    watchCaches(some) {
      ofLeader.add(some);
    },
    setLeading(isLeading) {
      isLeader = isLeading;
      leading.set({ lease: operatorLease }, isLeading ? 1 : 0);
      if (isLeading) return;
      controllers.clear();
      ofLeader.clear();
    },
  };
}

/** Counts and times the reconciles of each controller. */
function createReconcileMetrics(registers: Registry[]): OperatorMetrics["of"] {
  const reconciles = new Counter({
    name: "switchyard_reconciles_total",
    help: "Number of reconciles by controller and outcome: done, requeued, failed or stopped.",
    labelNames: ["controller", "outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "switchyard_reconcile_seconds",
    help: "Duration of a reconcile in seconds.",
    labelNames: ["controller"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers,
  });
  const waitSeconds = new Histogram({
    name: "switchyard_queue_wait_seconds",
    help: "Time in seconds that a key waited in the queue after it was due.",
    labelNames: ["controller"],
    buckets: [0.001, 0.01, 0.1, 1, 10],
    registers,
  });

  return (controller) => ({
    reconciled({ outcome, durationMs }) {
      reconciles.inc({ controller, outcome });
      seconds.observe({ controller }, durationMs / 1000);
    },
    waited(latencyMs) {
      waitSeconds.observe({ controller }, latencyMs / 1000);
    },
  });
}

/**
 * countDrains counts drains by state, for metrics. Drains by an external drainer are not counted. Returns the counts of all
 * states. Degraded drains also count as draining, and stalled ones also as complete.
 */
export function countDrains(states: readonly { readonly drain: CachedDrain }[]): ReadonlyMap<DrainState, number> {
  const counts = new Map<DrainState, number>([
    ["waiting", 0],
    ["draining", 0],
    ["complete", 0],
    ["degraded", 0],
    ["stalled", 0],
  ]);
  const count = (state: DrainState): Map<DrainState, number> => counts.set(state, (counts.get(state) ?? 0) + 1);
  for (const { drain } of states) {
    if (drain.isExternal) continue;
    const answer = answerOf(drain);
    if (answer === drainAnswers.draining) count("draining");
    if (answer === drainAnswers.complete) count("complete");
    if (answer === drainAnswers.idle && (drain.desired ?? drainRequests.idle) !== drainRequests.idle) count("waiting");
    if (holding(drain.conditions, conditionTypes.drainDegraded) === undefined) continue;
    count(answer === drainAnswers.complete ? "stalled" : "degraded");
  }
  return counts;
}
