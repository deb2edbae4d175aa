// SPDX-License-Identifier: Apache-2.0
/**
 * What an admin wants to see of a node: how far it is, what was done to it, and what it refuses. Nothing is told by PF or
 * VF: with 128 VFs a node, 1,000 nodes would have hundreds of thousands of series, and the SriovNetworkNodeState has each
 * anyway.
 * Usage: `const metrics = createDaemonMetrics(registry, { nodeName, now: () => new Date() }); metrics.stepEnded(step, false);`
 */
import type { InterfaceStatus, SriovNetworkNodeStateSpec } from "@switchyard/api";
import type { Step } from "@switchyard/plan";
import { Counter, Gauge, Histogram, type Registry } from "@switchyard/service";
import { countVfs } from "./count-vfs.ts";
import { syncStatuses, syncStatusOf, type Phase } from "./phase.ts";

export interface DaemonMetrics {
  /** The steps that are left to do, now that this was found. */
  readonly planned: (
    desired: SriovNetworkNodeStateSpec,
    found: readonly InterfaceStatus[],
    steps: readonly Step[],
  ) => void;
  readonly stepEnded: (step: Step, hasFailed: boolean) => void;
  /** The steps of a plan came to their end; `isDone` where all of them are done. */
  readonly applied: (apply: { readonly durationMs: number; readonly isDone: boolean }) => void;
  /** Told of each report, also of one that the API server does not get. */
  readonly reported: (phase: Phase) => void;
}

export interface DaemonMetricsOptions {
  /** A label of all that this process shows: where it is scraped, nodes may be known by their address only. */
  readonly nodeName: string;
  readonly now: () => Date;
  /** Age of the oldest step that has begun and not ended, in ms. */
  readonly oldestMs: () => number;
}

const stepKinds: Readonly<Record<Step["kind"], true>> = {
  "load-module": true,
  "set-pf-mtu": true,
  "set-link-up": true,
  "set-num-vfs": true,
  "bind-driver": true,
  "set-vf-mac": true,
  "set-vf-mtu": true,
  "release-pf": true,
};

export function createDaemonMetrics(
  registry: Registry,
  { nodeName, now, oldestMs }: DaemonMetricsOptions,
): DaemonMetrics {
  const registers = [registry];
  registry.setDefaultLabels({ node: nodeName });

  const steps = new Counter({
    name: "switchyard_steps_total",
    help: "Steps by kind and outcome: done or failed.",
    labelNames: ["kind", "outcome"],
    registers,
  });
  // From 0 on, so that the first failure is an increase.
  for (const kind of Object.keys(stepKinds)) for (const outcome of ["done", "failed"]) steps.inc({ kind, outcome }, 0);
  new Gauge({
    name: "switchyard_oldest_step_seconds",
    help: "How long the oldest step in hand has been running: minutes are a step that hangs in the kernel. 0 without one.",
    registers,
    collect() {
      this.set(oldestMs() / 1000);
    },
  });
  const seconds = new Histogram({
    name: "switchyard_apply_seconds",
    help: "Time in which the steps of a plan were done, or failed.",
    buckets: [0.1, 0.5, 2, 10, 60],
    registers,
  });
  const lastApply = new Gauge({
    name: "switchyard_last_apply_timestamp_seconds",
    help: "When all steps of a plan were done last, in seconds since 1970; 0 if never since the process started.",
    registers,
  });
  const syncStatus = new Gauge({
    name: "switchyard_node_sync_status",
    help: "1 for the sync status that the node has, else 0; 0 for all before the first report.",
    labelNames: ["sync_status"],
    registers,
  });
  for (const each of syncStatuses) syncStatus.set({ sync_status: each }, 0);
  const waiting = new Gauge({
    name: "switchyard_waiting_for_drain",
    help: "1 while the node waits to be drained.",
    registers,
  });
  const vfs = new Gauge({
    name: "switchyard_node_vfs",
    help: "VFs of the node: wanted by its spec, existing, and configured, which are those wanted that are as asked for.",
    labelNames: ["state"],
    registers,
  });

  return {
    planned(desired, found, planned) {
      for (const [state, count] of Object.entries(countVfs(desired, found, planned))) vfs.set({ state }, count);
    },
    stepEnded({ kind }, hasFailed) {
      steps.inc({ kind, outcome: hasFailed ? "failed" : "done" });
    },
    applied({ durationMs, isDone }) {
      seconds.observe(durationMs / 1000);
      if (isDone) lastApply.set(now().getTime() / 1000);
    },
    reported(phase) {
      const current = syncStatusOf(phase);
      for (const each of syncStatuses) syncStatus.set({ sync_status: each }, each === current ? 1 : 0);
      waiting.set(phase.kind === "waiting-for-drain" ? 1 : 0);
    },
  };
}
