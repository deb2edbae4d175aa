// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkPoolConfigs of the other sort, which name a MachineConfigPool: its machines get hardware offload of Open
 * vSwitch. All of them at once, since what is left of one that is gone shows only beside those that are there. Upstream's
 * finalizer is taken off pools of both sorts.
 */
import { policyReasons, type ObjectMeta, type SriovNetworkPoolConfig } from "@switchyard/api";
import { isKubeError, type Cache, type Change, type Reconcile, type Writer } from "@switchyard/kube";
import { isHardwareOffloadPool } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import { conditionsFor, type ConditionSummary } from "../../status/condition-summary.ts";
import {
  excludedPool,
  hasOffload,
  isOperatorsOffload,
  machineConfigPoolSummary,
  offloadConfigName,
  offloadHazard,
  offloadMachineConfig,
} from "./hardware-offload.ts";
import type { MachineConfigs } from "./machine-configs.ts";

/** Whether the change is another than of a status. */
export function changesOffload({ before, after }: Change<SriovNetworkPoolConfig>): boolean {
  const concerns = (pool: SriovNetworkPoolConfig | undefined) =>
    pool && {
      spec: pool.spec,
      generation: pool.metadata.generation,
      finalizers: pool.metadata.finalizers,
      isTerminating: pool.metadata.deletionTimestamp !== undefined,
    };
  return !isDeepStrictEqual(concerns(before), concerns(after));
}

export interface HardwareOffloadDeps {
  readonly pools: Cache<SriovNetworkPoolConfig>;
  /** Undefined where the cluster is not OpenShift. */
  readonly machineConfigs: MachineConfigs | undefined;
  readonly writer: Writer<SriovNetworkPoolConfig>;
  /** Takes off what upstream's operator would have taken off; sends nothing where it is not. */
  readonly removeFinalizer: (metadata: ObjectMeta, signal: AbortSignal) => Promise<void>;
  /** Whether there is a SriovOperatorConfig: without it, all stays as it is. */
  readonly isManaged: () => boolean;
  readonly now: () => Date;
}

/** Nobody tells of these kinds, which are many and large. */
const pollMs = { moving: 15_000, settled: 300_000 };

export function createHardwareOffloadReconciler(deps: HardwareOffloadDeps): Reconcile {
  const { pools, machineConfigs, writer, now } = deps;

  return async function reconcile(_key, signal) {
    for (const pool of pools.list()) await deps.removeFinalizer(pool.metadata, signal);
    if (!deps.isManaged()) return undefined;
    const wanted = pools.list().filter((pool) => isHardwareOffloadPool(pool) && isNotDeleted(pool));
    const states = new Set<ConditionSummary["state"]>();
    for (const pool of wanted) {
      const summary = await realize(pool, signal);
      states.add(summary.state);
      await tell(pool, summary, signal);
    }
    await removeLeftovers(
      wanted.map((pool) => offloadConfigName(machineConfigPoolOf(pool))),
      signal,
    );
    if (wanted.length === 0) return undefined;
    return { afterMs: states.size === 1 && states.has("ready") ? pollMs.settled : pollMs.moving };
  };

  async function realize(pool: SriovNetworkPoolConfig, signal: AbortSignal): Promise<ConditionSummary> {
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
      const hazard = isKept ? offloadHazard(present) : undefined;
      return hazard === undefined ? summary : { ...summary, message: `${summary.message}; ${hazard}` };
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error;
      return invalid(`MachineConfigPool ${name} does not exist`);
    }
  }

  async function removeLeftovers(wanted: readonly string[], signal: AbortSignal): Promise<void> {
    if (machineConfigs === undefined) return;
    for (const name of await findCandidates(machineConfigs, signal)) {
      if (wanted.includes(name)) continue;
      const present = await machineConfigs.read(name, signal);
      if (present !== undefined && isOperatorsOffload(present)) await machineConfigs.delete(present, signal);
    }
  }

  async function tell(pool: SriovNetworkPoolConfig, summary: ConditionSummary, signal: AbortSignal): Promise<void> {
    const { name, generation = 0 } = pool.metadata;
    const conditions = conditionsFor(summary, pool.status?.conditions ?? [], generation, now());
    await writer.applyStatus({ metadata: { name }, status: { conditions, observedGeneration: generation } }, signal);
  }
}

/** Names under which ours may be, and upstream's, which have no label of ours. */
async function findCandidates(machineConfigs: MachineConfigs, signal: AbortSignal): Promise<ReadonlySet<string>> {
  try {
    const pools = await machineConfigs.listPools(signal);
    return new Set([...(await machineConfigs.listLabelled(signal)), ...pools.map(offloadConfigName)]);
  } catch (error) {
    if (isKubeError(error, "NotFound")) return new Set(); // a hosted control plane
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
