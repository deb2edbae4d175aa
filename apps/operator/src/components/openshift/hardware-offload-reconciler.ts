// SPDX-License-Identifier: Apache-2.0
/**
 * createHardwareOffloadReconciler handles SriovNetworkPoolConfigs that name a MachineConfigPool: it enables hardware
 * offload of Open vSwitch on the machines of that pool. All of them are reconciled together, because the leftovers of a
 * deleted one are found by comparison with the others. Upstream's finalizer is removed from all
 * SriovNetworkPoolConfigs.
 */
import { policyReasons, type ObjectMeta, type SriovNetworkPoolConfig } from "@switchyard/api";
import { isKubeError, type Cache, type CacheChange, type Reconcile, type Writer } from "@switchyard/kube";
import { isHardwareOffloadPool } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import type { FindResetHold, ResetHold } from "../../node-states/reset-hold.ts";
import type { RecentDeletions } from "../../facts/recent-deletions.ts";
import { conditionsFor, type ConditionSummary } from "../../reports/condition-summary.ts";
import {
  excludedPool,
  hasOffload,
  isOperatorsOffload,
  machineConfigPoolSummary,
  offloadConfigName,
  offloadConfigProblem,
  offloadMachineConfig,
} from "./hardware-offload.ts";
import type { MachineConfigs } from "./machine-configs.ts";

/** Reports whether more than the status changed. */
export function changesOffload({ before, after }: CacheChange<SriovNetworkPoolConfig>): boolean {
  const relevant = (pool: SriovNetworkPoolConfig | undefined) =>
    pool && {
      spec: pool.spec,
      generation: pool.metadata.generation,
      finalizers: pool.metadata.finalizers,
      isTerminating: pool.metadata.deletionTimestamp !== undefined,
    };
  return !isDeepStrictEqual(relevant(before), relevant(after));
}

export interface HardwareOffloadDeps {
  readonly pools: Cache<SriovNetworkPoolConfig>;
  /** Undefined if the cluster is not OpenShift. */
  readonly machineConfigs: MachineConfigs | undefined;
  readonly writer: Writer<SriovNetworkPoolConfig>;
  /** Removes the finalizer of upstream's operator. Sends nothing if the object has none. */
  readonly removeFinalizer: (metadata: ObjectMeta, signal: AbortSignal) => Promise<void>;
  /** Reports whether SriovOperatorConfig "default" exists. Without it, nothing is changed. */
  readonly isManaged: () => boolean;
  /** Deletions of pools. */
  readonly deletions: RecentDeletions;
  /** Called with the creation time of a MachineConfig that would be deleted, which reboots the machines of its pool. */
  readonly findPoolHold: FindResetHold;
  readonly now: () => Date;
}

/** MachineConfigs and MachineConfigPools are polled, because they are too many and too large to watch. */
const pollMs = { moving: 15_000, settled: 300_000 };

export function createHardwareOffloadReconciler(deps: HardwareOffloadDeps): Reconcile {
  const { pools, machineConfigs, writer, now } = deps;

  return async function reconcile(_key, signal) {
    for (const pool of pools.list()) await deps.removeFinalizer(pool.metadata, signal);
    if (!deps.isManaged()) return undefined;
    const wanted = pools.list().filter((pool) => isHardwareOffloadPool(pool) && isNotDeleted(pool));
    const states = new Set<ConditionSummary["state"]>();
    for (const pool of wanted) {
      const summary = await enableOffload(pool, signal);
      states.add(summary.state);
      await writeStatus(pool, summary, signal);
    }
    const waitMs = deps.deletions.remainingMs();
    if (waitMs > 0) return { afterMs: waitMs };
    // A pool that is being deleted may be created again: its machines reboot only when it is gone.
    const kept = pools.list().filter(isHardwareOffloadPool);
    const hold = await removeLeftovers(
      kept.map((pool) => offloadConfigName(machineConfigPoolOf(pool))),
      signal,
    );
    if (hold !== undefined) return { afterMs: Math.min(hold.afterMs, pollMs.moving) };
    if (wanted.length === 0) return undefined;
    return { afterMs: states.size === 1 && states.has("ready") ? pollMs.settled : pollMs.moving };
  };

  async function enableOffload(pool: SriovNetworkPoolConfig, signal: AbortSignal): Promise<ConditionSummary> {
    const name = machineConfigPoolOf(pool);
    if (machineConfigs === undefined) {
      return invalid('supported on OpenShift only, and CLUSTER_TYPE of the operator is not "openshift"');
    }
    if (name === excludedPool) return invalid(`MachineConfigPool ${name} of the control plane is never changed`);
    try {
      await machineConfigs.readPool(name, signal);
      const present = await machineConfigs.read(offloadConfigName(name), signal);
      const isKept = present !== undefined && hasOffload(present, name);
      if (!isKept) await machineConfigs.apply(offloadMachineConfig(name), signal);
      const summary = machineConfigPoolSummary(await machineConfigs.readPool(name, signal), offloadConfigName(name));
      const hazard = isKept ? offloadConfigProblem(present) : undefined;
      return hazard === undefined ? summary : { ...summary, message: `${summary.message}; ${hazard}` };
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error;
      return invalid(`MachineConfigPool ${name} does not exist`);
    }
  }

  /** Returns why leftovers stay: their pools may be lost and restored. */
  async function removeLeftovers(wanted: readonly string[], signal: AbortSignal): Promise<ResetHold | undefined> {
    if (machineConfigs === undefined) return undefined;
    let held: ResetHold | undefined;
    for (const name of await findCandidates(machineConfigs, signal)) {
      if (wanted.includes(name)) continue;
      const present = await machineConfigs.read(name, signal);
      if (present === undefined || !isOperatorsOffload(present)) continue;
      const hold = await deps.findPoolHold(present.metadata.creationTimestamp, signal);
      if (hold === undefined) await machineConfigs.delete(present, signal);
      held = hold ?? held;
    }
    return held;
  }

  async function writeStatus(
    pool: SriovNetworkPoolConfig,
    summary: ConditionSummary,
    signal: AbortSignal,
  ): Promise<void> {
    const { name, generation = 0 } = pool.metadata;
    const conditions = conditionsFor(summary, pool.status?.conditions ?? [], generation, now());
    await writer.applyStatus({ metadata: { name }, status: { conditions, observedGeneration: generation } }, signal);
  }
}

/** Returns the names of MachineConfigs that this operator or upstream's may have created. Upstream's have no label. */
async function findCandidates(machineConfigs: MachineConfigs, signal: AbortSignal): Promise<ReadonlySet<string>> {
  try {
    const pools = await machineConfigs.listPools(signal);
    return new Set([...(await machineConfigs.listLabelled(signal)), ...pools.map(offloadConfigName)]);
  } catch (error) {
    if (isKubeError(error, "NotFound")) return new Set(); // a hosted control plane has no such kinds
    throw error;
  }
}

function machineConfigPoolOf({ spec }: SriovNetworkPoolConfig): string {
  return spec?.ovsHardwareOffloadConfig?.name ?? "";
}

function isNotDeleted({ metadata }: SriovNetworkPoolConfig): boolean {
  return metadata.deletionTimestamp === undefined;
}

function invalid(message: string): ConditionSummary {
  return {
    state: "degraded",
    reason: policyReasons.invalid,
    message: `spec.ovsHardwareOffloadConfig.name: ${message}`,
  };
}
