// SPDX-License-Identifier: Apache-2.0
/**
 * The Machine Config Operator's objects, asked for and not watched: they are many and large, and ours are few.
 * Usage: `createMachineConfigs(transport)`.
 */
import { createWriter, listPages, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import { machineConfigPools, machineConfigs as type } from "../drain/machine-config-pools.ts";
import { managers } from "../managers.ts";
import type { MachineConfigs } from "./hardware-offload-reconciler.ts";
import { offloadLabels } from "./hardware-offload.ts";

export function createMachineConfigs(transport: Transport): MachineConfigs {
  const writer = createWriter<KubeObject>({ transport, type, manager: managers.hardwareOffload });
  const labelSelector = Object.entries(offloadLabels)
    .map(([label, value]) => `${label}=${value}`)
    .join(",");
  return {
    async apply({ apiVersion: _, kind: _kind, ...intent }, signal) {
      await writer.apply(intent, signal);
    },
    async list(signal) {
      const names: string[] = [];
      for await (const { items } of listPages(transport, { type, labelSelector, signal })) {
        names.push(...items.map(({ metadata }) => metadata.name));
      }
      return names;
    },
    delete: (name, signal) => writer.delete({ metadata: { name } }, signal),
    readPool: (name, signal) =>
      transport.request({ method: "GET", path: objectPath(machineConfigPools, { name }), signal }),
  };
}
