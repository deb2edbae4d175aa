// SPDX-License-Identifier: Apache-2.0
/**
 * OpenShift's Machine Config Operator drains and reboots nodes, too. While we drain a node, its MachineConfigPool is
 * paused, so that the two do not work on one node (sriov-operator.md G). Upstream's protocol: the pool's annotation says
 * that the pause is ours, and it is written before the pause, so that a pause of ours never looks like an admin's.
 * Usage: `const pause = await pools.pause(node, signal); if (pause !== "paused") wait(pause.message);`
 *
 * Where these kinds do not exist (hosted control planes), or a node belongs to no pool, there is nothing to pause.
 */
import { annotations, type Node, type ResourceType } from "@switchyard/api";
import {
  isKubeError,
  isKubeObject,
  isRecord,
  KubeError,
  listPages,
  metadataOnly,
  objectPath,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";

export interface MachineConfigPools {
  /** Pauses the node's pool; `message` says why that has to wait. Rejects with KubeError. */
  pause(node: Node, signal: AbortSignal): Promise<"paused" | { readonly message: string }>;
  /** Lets all pools go on that we paused, but those of nodes that `atWork` has when their turn comes. */
  resume(atWork: () => readonly Node[], signal: AbortSignal): Promise<void>;
}

export const machineConfigs: ResourceType = {
  group: "machineconfiguration.openshift.io",
  version: "v1",
  kind: "MachineConfig",
  plural: "machineconfigs",
  namespaced: false,
};

export const machineConfigPools: ResourceType = {
  ...machineConfigs,
  kind: "MachineConfigPool",
  plural: "machineconfigpools",
};

export function createMachineConfigPools(transport: Transport): MachineConfigPools {
  /** One change of pools at a time: to resume a pool and to pause it is decided by looking first. */
  let turn: Promise<unknown> = Promise.resolve();
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = turn.then(run, run);
    turn = result.catch(() => undefined);
    return result;
  }

  async function pause(node: Node, signal: AbortSignal): Promise<"paused" | { readonly message: string }> {
    const name = await poolNameOf(configOf(node), signal);
    const pool = name === undefined ? undefined : await readPool(name, signal);
    if (pool === undefined || pool.isPaused) return "paused"; // also an admin's pause: nothing moves there
    if (pool.isUpdating) return { message: `waiting for MachineConfigPool "${pool.name}" to finish its update` };

    if (!pool.isOurs) await patchPool(pool.name, { annotation: "Paused" }, signal);
    await patchPool(pool.name, { paused: true }, signal);
    const after = await readPool(pool.name, signal);
    if (after?.isUpdating !== true) return "paused";
    // An update began between the two looks; it has the right of way.
    await patchPool(pool.name, { paused: false }, signal);
    await patchPool(pool.name, { annotation: "Idle" }, signal);
    return { message: `waiting for MachineConfigPool "${pool.name}" to finish the update that has just started` };
  }

  async function resume(atWork: () => readonly Node[], signal: AbortSignal): Promise<void> {
    const ours = (await listPools(signal)).filter(({ isOurs }) => isOurs);
    if (ours.length === 0) return;
    const needed = new Set<string | undefined>();
    for (const config of new Set(atWork().map(configOf))) needed.add(await poolNameOf(config, signal));
    for (const { name, isPaused } of ours.filter((pool) => !needed.has(pool.name))) {
      if (isPaused) await patchPool(name, { paused: false }, signal);
      await patchPool(name, { annotation: "Idle" }, signal);
    }
  }

  /** The pool whose controller rendered the MachineConfig. */
  async function poolNameOf(config: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    if (config === undefined) return undefined;
    // MachineConfigs hold whole files; only the owner is of use.
    const object = await read(machineConfigs, config, { accept: metadataOnly, signal });
    return object?.metadata.ownerReferences?.find(({ kind }) => kind === machineConfigPools.kind)?.name;
  }

  async function readPool(name: string, signal: AbortSignal): Promise<Pool | undefined> {
    const object = await read(machineConfigPools, name, { signal });
    return object && toPool(object);
  }

  async function listPools(signal: AbortSignal): Promise<readonly Pool[]> {
    const found: Pool[] = [];
    try {
      for await (const { items } of listPages(transport, { type: machineConfigPools, signal })) {
        found.push(...items.map(toPool));
      }
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error; // there is no such kind
    }
    return found;
  }

  async function read(
    type: ResourceType,
    name: string,
    { accept, signal }: { readonly accept?: string; readonly signal: AbortSignal },
  ) {
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

  async function patchPool(name: string, { annotation, paused }: PoolChange, signal: AbortSignal): Promise<void> {
    const annotated = { metadata: { annotations: { [annotations.machineConfigPoolState]: annotation } } };
    await transport.request({
      method: "PATCH",
      path: objectPath(machineConfigPools, { name }),
      contentType: "application/merge-patch+json",
      accept: metadataOnly,
      body: annotation === undefined ? { spec: { paused } } : annotated,
      signal,
    });
  }

  return {
    pause: (node, signal) => inTurn(() => pause(node, signal)),
    resume: (atWork, signal) => inTurn(() => resume(atWork, signal)),
  };
}

interface Pool {
  readonly name: string;
  /** We paused it, or were about to. */
  readonly isOurs: boolean;
  readonly isPaused: boolean;
  readonly isUpdating: boolean;
}

interface PoolChange {
  readonly annotation?: "Paused" | "Idle";
  readonly paused?: boolean;
}

/** The MachineConfig that the node is to have. */
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
