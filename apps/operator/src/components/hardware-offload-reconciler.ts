// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkPoolConfigs of the other sort, which name a MachineConfigPool: its machines get hardware offload of Open
 * vSwitch. All of them at once, since what is left of one that is gone shows only beside those that are there. Upstream's
 * finalizer is taken off pools of both sorts.
 */
import { policyReasons, type ObjectMeta, type SriovNetworkPoolConfig } from "@switchyard/api";
import { isKubeError, type Cache, type Change, type Reconcile, type Writer } from "@switchyard/kube";
import { isHardwareOffloadPool } from "@switchyard/policy";
import type { Manifest } from "@switchyard/render";
import { isDeepStrictEqual } from "node:util";
import { conditionsFor, type Judgement } from "../judgement.ts";
import { excludedPool, judgeMachineConfigPool, offloadConfigName, offloadMachineConfig } from "./hardware-offload.ts";

/** Whether the change is another than of a status. */
export function concernsOffload({ before, after }: Change<SriovNetworkPoolConfig>): boolean {
  const concerns = (pool: SriovNetworkPoolConfig | undefined) =>
    pool && {
      spec: pool.spec,
      generation: pool.metadata.generation,
      finalizers: pool.metadata.finalizers,
      isGoing: pool.metadata.deletionTimestamp !== undefined,
    };
  return !isDeepStrictEqual(concerns(before), concerns(after));
}

/** The Machine Config Operator's objects. All reject with KubeError, "NotFound" where there are no such kinds. */
export interface MachineConfigs {
  apply(config: Manifest, signal: AbortSignal): Promise<void>;
  /** Names of those that are ours. */
  list(signal: AbortSignal): Promise<readonly string[]>;
  delete(name: string, signal: AbortSignal): Promise<void>;
  readPool(name: string, signal: AbortSignal): Promise<unknown>;
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
    const wanted = pools.list().filter((pool) => isHardwareOffloadPool(pool) && isStaying(pool));
    const states = new Set<Judgement["state"]>();
    for (const pool of wanted) {
      const judgement = await realize(pool, signal);
      states.add(judgement.state);
      await tell(pool, judgement, signal);
    }
    await removeLeftovers(
      wanted.map((pool) => offloadConfigName(machineConfigPoolOf(pool))),
      signal,
    );
    if (wanted.length === 0) return undefined;
    return { afterMs: states.size === 1 && states.has("ready") ? pollMs.settled : pollMs.moving };
  };

  async function realize(pool: SriovNetworkPoolConfig, signal: AbortSignal): Promise<Judgement> {
    const name = machineConfigPoolOf(pool);
    if (machineConfigs === undefined) return invalid("is for OpenShift only, by CLUSTER_TYPE this is none");
    if (name === excludedPool) return invalid(`${name} is the control plane's pool, which is left as it is`);
    try {
      await machineConfigs.readPool(name, signal);
      await machineConfigs.apply(offloadMachineConfig(name), signal);
      return judgeMachineConfigPool(await machineConfigs.readPool(name, signal), offloadConfigName(name));
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error;
      return invalid(`there is no MachineConfigPool ${name}`);
    }
  }

  async function removeLeftovers(wanted: readonly string[], signal: AbortSignal): Promise<void> {
    const present = await machineConfigs?.list(signal).catch((error: unknown) => {
      if (isKubeError(error, "NotFound")) return []; // a hosted control plane
      throw error;
    });
    for (const name of present ?? []) if (!wanted.includes(name)) await machineConfigs?.delete(name, signal);
  }

  async function tell(pool: SriovNetworkPoolConfig, judgement: Judgement, signal: AbortSignal): Promise<void> {
    const { name, generation = 0 } = pool.metadata;
    const conditions = conditionsFor(judgement, pool.status?.conditions ?? [], generation, now());
    await writer.applyStatus({ metadata: { name }, status: { conditions, observedGeneration: generation } }, signal);
  }
}

function machineConfigPoolOf({ spec }: SriovNetworkPoolConfig): string {
  return spec?.ovsHardwareOffloadConfig?.name ?? "";
}

function isStaying({ metadata }: SriovNetworkPoolConfig): boolean {
  return metadata.deletionTimestamp === undefined;
}

function invalid(message: string): Judgement {
  return {
    state: "degraded",
    reason: policyReasons.invalid,
    message: `spec.ovsHardwareOffloadConfig.name: ${message}`,
  };
}
