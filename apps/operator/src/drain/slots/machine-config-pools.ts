// SPDX-License-Identifier: Apache-2.0
/**
 * MachineConfigPools pauses OpenShift's MachineConfigPools during drains, so that the Machine Config Operator, which
 * also drains and reboots nodes, does not work on the same node (sriov-operator.md G). As in upstream's protocol, an
 * annotation on the pool marks the pause as the operator's. It is written before the pause, so that the operator's
 * pause is never mistaken for an administrator's.
 *
 * Clusters without these kinds (hosted control planes) and nodes in no pool need no pause.
 */
import {
  annotations,
  drainAnswers,
  drainRequests,
  machineConfigPools,
  machineConfigs,
  type Node,
  type ResourceType,
} from "@switchyard/api";
import {
  isKubeError,
  isKubeObject,
  isRecord,
  KubeError,
  listPages,
  metadataOnly,
  objectPath,
  type Cache,
  type KubeObject,
  type Reconcile,
  type Transport,
} from "@switchyard/kube";
import type { DrainCarriers } from "../drain-carriers.ts";
import { answerOf, requestFor } from "../../facts/cached-drain.ts";

export interface MachineConfigPools {
  /** Pauses the pool of the node. Returns why it cannot be paused yet as `message`. Rejects with KubeError. */
  pause(node: Node, signal: AbortSignal): Promise<"paused" | { readonly message: string }>;
  /**
   * Resumes all pools that the operator paused, except those of the nodes that `drainingNodes` returns. Calls it after
   * all earlier changes of pools have ended. Rejects with KubeError.
   */
  resume(drainingNodes: () => readonly Node[], signal: AbortSignal): Promise<void>;
}

export function createMachineConfigPools(transport: Transport): MachineConfigPools {
  const api = createPoolApi(transport);

  // Pausing and resuming both read the pool first, so only one of them may run at a time.
  let last: Promise<unknown> = Promise.resolve();
  function oneAtATime<T>(run: () => Promise<T>): Promise<T> {
    const result = last.then(run, run);
    last = result.catch(() => undefined);
    return result;
  }

  async function pause(node: Node, signal: AbortSignal): Promise<"paused" | { readonly message: string }> {
    const name = await api.poolNameOf(configOf(node), signal);
    const pool = name === undefined ? undefined : await api.readPool(name, signal);
    if (pool === undefined || pool.isPaused) return "paused"; // an administrator's pause serves the purpose, too
    if (pool.isUpdating) return { message: `waiting for MachineConfigPool "${pool.name}" to finish its update` };

    if (!pool.isOurs) await api.setAnnotation(pool.name, "Paused", signal);
    await api.setPaused(pool.name, true, signal);
    const after = await api.readPool(pool.name, signal);
    if (after?.isUpdating !== true) return "paused";
    // An update began between the two reads. It takes precedence.
    await api.setPaused(pool.name, false, signal);
    await api.setAnnotation(pool.name, "Idle", signal);
    return { message: `waiting for MachineConfigPool "${pool.name}" to finish the update that has just started` };
  }

  async function resume(drainingNodes: () => readonly Node[], signal: AbortSignal): Promise<void> {
    const ours = (await api.listPools(signal)).filter(({ isOurs }) => isOurs);
    if (ours.length === 0) return;
    const needed = new Set<string | undefined>();
    for (const config of new Set(drainingNodes().map(configOf))) needed.add(await api.poolNameOf(config, signal));
    for (const { name, isPaused } of ours.filter((pool) => !needed.has(pool.name))) {
      if (isPaused) await api.setPaused(name, false, signal);
      await api.setAnnotation(name, "Idle", signal);
    }
  }

  return {
    pause: (node, signal) => oneAtATime(() => pause(node, signal)),
    resume: (drainingNodes, signal) => oneAtATime(() => resume(drainingNodes, signal)),
  };
}

/** Requests for pools. All reject with KubeError. */
function createPoolApi(transport: Transport) {
  async function read(
    type: ResourceType,
    name: string,
    { accept, signal }: { readonly accept?: string; readonly signal: AbortSignal },
  ): Promise<KubeObject | undefined> {
    const path = objectPath(type, { name });
    try {
      const object = await transport.request({ method: "GET", path, accept, signal });
      if (isKubeObject(object)) return object;
    } catch (error) {
      if (isKubeError(error, "NotFound")) return undefined;
      throw error;
    }
    throw new KubeError(`GET ${path}`, "UnexpectedResponse");
  }

  async function patchPool(name: string, body: object, signal: AbortSignal): Promise<void> {
    const path = objectPath(machineConfigPools, { name });
    const contentType = "application/merge-patch+json";
    await transport.request({ method: "PATCH", path, contentType, accept: metadataOnly, body, signal });
  }

  return {
    /** Returns the pool that owns the rendered MachineConfig; undefined if there is none. */
    async poolNameOf(config: string | undefined, signal: AbortSignal): Promise<string | undefined> {
      if (config === undefined) return undefined;
      // MachineConfigs contain whole files, but only the owner is needed.
      const object = await read(machineConfigs, config, { accept: metadataOnly, signal });
      return object?.metadata.ownerReferences?.find(({ kind }) => kind === machineConfigPools.kind)?.name;
    },

    async readPool(name: string, signal: AbortSignal): Promise<Pool | undefined> {
      const object = await read(machineConfigPools, name, { signal });
      return object && toPool(object);
    },

    /** Empty if the cluster does not have the kind. */
    async listPools(signal: AbortSignal): Promise<readonly Pool[]> {
      const found: Pool[] = [];
      try {
        for await (const { items } of listPages(transport, { type: machineConfigPools, signal })) {
          found.push(...items.map(toPool));
        }
      } catch (error) {
        if (!isKubeError(error, "NotFound")) throw error;
      }
      return found;
    },

    async setPaused(name: string, paused: boolean, signal: AbortSignal): Promise<void> {
      await patchPool(name, { spec: { paused } }, signal);
    },

    async setAnnotation(name: string, value: "Paused" | "Idle", signal: AbortSignal): Promise<void> {
      await patchPool(name, { metadata: { annotations: { [annotations.machineConfigPoolState]: value } } }, signal);
    },
  };
}

interface Pool {
  readonly name: string;
  /** Whether the operator paused the pool, or was about to. */
  readonly isOurs: boolean;
  readonly isPaused: boolean;
  readonly isUpdating: boolean;
}

/** The rendered MachineConfig that the node should have. */
function configOf({ metadata }: Node): string | undefined {
  return metadata.annotations?.[annotations.desiredMachineConfig];
}

function toPool(object: KubeObject): Pool {
  const { spec, status } = parts(object);
  return {
    name: object.metadata.name,
    isOurs: object.metadata.annotations?.[annotations.machineConfigPoolState] === "Paused",
    isPaused: spec["paused"] === true,
    isUpdating: configurationName(spec) !== configurationName(status),
  };
}

function parts(object: object): Record<"spec" | "status", Readonly<Record<string, unknown>>> {
  const { spec, status }: { readonly spec?: unknown; readonly status?: unknown } = object;
  return { spec: isRecord(spec) ? spec : {}, status: isRecord(status) ? status : {} };
}

function configurationName({ configuration }: Readonly<Record<string, unknown>>): unknown {
  return isRecord(configuration) ? configuration["name"] : undefined;
}

interface DrainPausesDeps {
  readonly nodes: Cache<Node>;
  readonly states: DrainCarriers;
  readonly machineConfigPools: Pick<MachineConfigPools, "resume">;
}

/** The only key, because any node may be the last of its pool. */
export const drainPausesKey = "pauses";

/**
 * createDrainPausesReconciler resumes MachineConfigPools that no drain needs paused any more: the drain has ended, its node is
 * gone, or the replica that paused the pool has died. A node that waits for a slot needs the pause, too. Otherwise the Machine
 * Config Operator could start on that node just before its drain begins (sriov-operator.md G).
 */
export function createDrainPausesReconciler({ nodes, states, machineConfigPools }: DrainPausesDeps): Reconcile {
  const needsPause = (node: Node): boolean => {
    const facts = states.get(node.metadata.name)?.drain;
    return (
      facts !== undefined && (requestFor(node, facts) !== drainRequests.idle || answerOf(facts) !== drainAnswers.idle)
    );
  };

  return async function reconcile(_key, signal) {
    await machineConfigPools.resume(() => nodes.list().filter(needsPause), signal);
    return undefined;
  };
}
