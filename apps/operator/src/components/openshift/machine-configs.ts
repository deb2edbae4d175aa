// SPDX-License-Identifier: Apache-2.0
/**
 * MachineConfigs reads and writes the objects of the Machine Config Operator. They are not watched, because they are
 * many and large, and the operator needs few of them.
 */
import { defined, machineConfigPools, machineConfigs as type } from "@switchyard/api";
import {
  createWriter,
  isKubeError,
  isKubeObject,
  KubeError,
  listPages,
  objectPath,
  type KubeObject,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import type { Manifest } from "@switchyard/render";
import { fieldManagers } from "../../field-managers.ts";
import { offloadLabels } from "./hardware-offload.ts";

/** All reject with KubeError; lists and readPool with "NotFound" if the cluster does not have the kinds. */
export interface MachineConfigs {
  /** Returns undefined if the object or the kind does not exist. */
  read(name: string, signal: AbortSignal): Promise<KubeObject | undefined>;
  apply(config: Manifest, signal: AbortSignal): Promise<void>;
  /** Deletes the object. Rejects with "Conflict" if it has changed since it was read. */
  delete(config: KubeObject, signal: AbortSignal): Promise<void>;
  /** Returns the names of the MachineConfigs with offloadLabels. */
  listLabelled(signal: AbortSignal): Promise<readonly string[]>;
  /** Returns the names of all MachineConfigPools. */
  listPools(signal: AbortSignal): Promise<readonly string[]>;
  readPool(name: string, signal: AbortSignal): Promise<unknown>;
}

export function createMachineConfigs(transport: Transport): MachineConfigs {
  const writer = createWriter<KubeObject>({ transport, type, manager: fieldManagers.hardwareOffload });
  const labelSelector = Object.entries(offloadLabels)
    .map(([label, value]) => `${label}=${value}`)
    .join(",");

  async function listNames(of: ResourceType, signal: AbortSignal, selector?: string): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const { items } of listPages(transport, { type: of, labelSelector: selector, signal })) {
      names.push(...items.map(({ metadata }) => metadata.name));
    }
    return names;
  }

  return {
    async read(name, signal) {
      const path = objectPath(type, { name });
      const found = await transport.request({ method: "GET", path, signal }).catch((error: unknown) => {
        if (isKubeError(error, "NotFound")) return undefined;
        throw error;
      });
      if (found === undefined || isKubeObject(found)) return found;
      throw new KubeError(`GET ${path}`, "UnexpectedResponse");
    },
    async apply({ apiVersion: _, kind: _kind, ...intent }, signal) {
      await writer.apply(intent, signal);
    },
    async delete({ metadata: { name, uid, resourceVersion } }, signal) {
      await writer.delete({ metadata: { name, ...defined({ uid, resourceVersion }) } }, signal);
    },
    listLabelled: (signal) => listNames(type, signal, labelSelector),
    listPools: (signal) => listNames(machineConfigPools, signal),
    readPool: (name, signal) =>
      transport.request({ method: "GET", path: objectPath(machineConfigPools, { name }), signal }),
  };
}
