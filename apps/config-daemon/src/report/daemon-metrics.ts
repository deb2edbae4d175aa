// SPDX-License-Identifier: Apache-2.0
/**
 * createDaemonMetrics registers the metrics of one node: its sync status, its steps and its VFs. No metric has a label for a
 * PF or VF: 1,000 nodes with 128 VFs each would have hundreds of thousands of series, and the SriovNetworkNodeState has the
 * details.
 */
import type { InterfaceStatus, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { changedVfs, stepKinds, type Step } from "@switchyard/plan";
import { Counter, Gauge, Histogram, type Registry } from "@switchyard/service";
import { syncStatuses, syncStatusOf, type Phase } from "./phase.ts";

export interface DaemonMetrics {
  /** Called with each plan: the spec, the observed PFs and the planned steps. */
  readonly planned: (
    desired: SriovNetworkNodeStateSpec,
    found: readonly InterfaceStatus[],
    steps: readonly Step[],
  ) => void;
  readonly stepEnded: (step: Step, hasFailed: boolean) => void;
  /** Called when the steps of a plan have ended; `isDone` if all of them succeeded. */
  readonly applied: (apply: { readonly durationMs: number; readonly isDone: boolean }) => void;
  /** Called with each report, also if the API server does not accept it. */
  readonly reported: (phase: Phase) => void;
}

export interface DaemonMetricsOptions {
  /** Becomes the label `node` of all metrics, because Prometheus may know the node only by its address. */
  readonly nodeName: string;
  readonly now: () => Date;
  /** Age of the oldest running step in ms. */
  readonly oldestMs: () => number;
}

/**
 * `wanted` counts the VFs in the spec. `existing` counts all VFs of the node, also those that Switchyard did not create.
 * `configured` counts the wanted VFs that exist and for which no step is planned.
 */
type VfCounts = Readonly<Record<"wanted" | "existing" | "configured", number>>;

export function createDaemonMetrics(
  registry: Registry,
  { nodeName, now, oldestMs }: DaemonMetricsOptions,
): DaemonMetrics {
  const registers = [registry];
  registry.setDefaultLabels({ node: nodeName });

  const steps = new Counter({
    name: "switchyard_steps_total",
    help: "Steps that ended, by kind and outcome (done or failed).",
    labelNames: ["kind", "outcome"],
    registers,
  });
  // Series that start at 0 show the first failure as an increase.
  for (const kind of stepKinds) for (const outcome of ["done", "failed"]) steps.inc({ kind, outcome }, 0);
  new Gauge({
    name: "switchyard_oldest_step_seconds",
    help: "Age of the oldest running step. A step that runs for minutes hangs in the kernel. 0 if no step is running.",
    registers,
    collect() {
      this.set(oldestMs() / 1000);
    },
  });
  const seconds = new Histogram({
    name: "switchyard_apply_seconds",
    help: "Duration of the steps of a plan, whether they succeeded or failed.",
    // Firmware and switchdev steps take minutes.
    buckets: [0.1, 0.5, 2, 10, 60, 180, 600, 1_800],
    registers,
  });
  const lastApply = new Gauge({
    name: "switchyard_last_apply_timestamp_seconds",
    help: "Unix time at which all steps of a plan last succeeded; 0 if never since the process started.",
    registers,
  });
  const lastPass = new Gauge({
    name: "switchyard_last_pass_timestamp_seconds",
    help: "Unix time at which the daemon last found the node as its spec requires; 0 if never since the process started.",
    registers,
  });
  const syncStatus = new Gauge({
    name: "switchyard_node_sync_status",
    help: "1 for the present sync status of the node, 0 for the others. All are 0 before the first report.",
    labelNames: ["sync_status"],
    registers,
  });
  for (const each of syncStatuses) syncStatus.set({ sync_status: each }, 0);
  const waiting = new Gauge({
    name: "switchyard_waiting_for_drain",
    help: "1 while the node waits for its drain.",
    registers,
  });
  const vfs = new Gauge({
    name: "switchyard_node_vfs",
    help: "VFs of the node by state: wanted by its spec, existing, and configured (wanted VFs that match the spec).",
    labelNames: ["state"],
    registers,
  });

  const equalMacs = new Gauge({
    name: "switchyard_node_equal_vf_macs",
    help: "VFs with an administrative MAC address that another VF of the same PF has.",
    registers,
  });
  const unclean = new Gauge({
    name: "switchyard_node_unclean_vfs",
    help: "VFs without a pod that have settings of a past pod, and are not offered until they are reset.",
    registers,
  });

  return {
    planned(desired, found, planned) {
      equalMacs.set(countEqualMacs(found));
      unclean.set(found.flatMap(({ Vfs = [] }) => Vfs).filter((vf) => vf.unclean !== undefined).length);
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
      if (phase.kind === "settled" && phase.problems.length === 0) lastPass.set(now().getTime() / 1000);
      const current = syncStatusOf(phase);
      for (const each of syncStatuses) syncStatus.set({ sync_status: each }, each === current ? 1 : 0);
      waiting.set(phase.kind === "waiting-for-drain" ? 1 : 0);
    },
  };
}

/** Returns how many VFs have an address that another VF of the same PF has. */
export function countEqualMacs(interfaces: readonly InterfaceStatus[]): number {
  const counts = interfaces.map(({ Vfs: vfs = [] }) => {
    const macs = vfs.flatMap(({ adminMac = "" }) => (/^[0:]*$/.test(adminMac) ? [] : [adminMac.toLowerCase()]));
    return [...Map.groupBy(macs, (mac) => mac).values()].reduce(
      (sum, same) => sum + (same.length > 1 ? same.length : 0),
      0,
    );
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** countVfs counts the wanted, existing and configured VFs of a node. It is a pure function. */
export function countVfs(
  spec: SriovNetworkNodeStateSpec,
  interfaces: readonly InterfaceStatus[],
  steps: readonly Step[],
): VfCounts {
  const found = new Map(interfaces.map((pf) => [pf.pciAddress, pf.Vfs ?? []]));
  const recreated = new Set<string>();
  const unfinished = new Set<string>();
  for (const step of steps) {
    if (changedVfs(step)?.vfId === "all" && "pciAddress" in step) recreated.add(step.pciAddress);
    else if ("vfId" in step) unfinished.add(`${step.pciAddress} ${step.vfId}`);
  }

  let wanted = 0;
  let configured = 0;
  for (const { pciAddress, numVfs = 0 } of spec.interfaces ?? []) {
    wanted += numVfs;
    if (recreated.has(pciAddress)) continue;
    const isDone = (vfId: number) => vfId < numVfs && !unfinished.has(`${pciAddress} ${vfId}`);
    configured += (found.get(pciAddress) ?? []).filter(({ vfID }) => isDone(vfID)).length;
  }
  return { wanted, existing: [...found.values()].reduce((sum, vfs) => sum + vfs.length, 0), configured };
}
