// SPDX-License-Identifier: Apache-2.0
/**
 * ForeignMachineConfigs knows the MachineConfigs that other programs have created under names of ovn-offload. They do not have its
 * label and are not watched, so they are read.
 */
import { machineConfigs } from "@switchyard/api";
import { isKubeError, isKubeObject, KubeError, objectPath, type Transport } from "@switchyard/kube";
import { isOfOvnOffload } from "@switchyard/render";

export interface ForeignMachineConfigs {
  /** The names that were in use by other programs when they were last read. */
  readonly names: ReadonlySet<string>;
  /** Reads whether another program has created the MachineConfig. Rejects with KubeError. */
  isTaken(name: string, signal: AbortSignal): Promise<boolean>;
  /** Reads again all `names`, some of which may have been deleted. Rejects with KubeError. */
  recheck(signal: AbortSignal): Promise<void>;
}

export function createForeignMachineConfigs(transport: Transport): ForeignMachineConfigs {
  const names = new Set<string>();

  async function isTaken(name: string, signal: AbortSignal): Promise<boolean> {
    const isForeign = await isOfOthers(name, signal);
    if (isForeign) names.add(name);
    else names.delete(name);
    return isForeign;
  }

  async function isOfOthers(name: string, signal: AbortSignal): Promise<boolean> {
    try {
      const found = await transport.request({ method: "GET", path: objectPath(machineConfigs, { name }), signal });
      if (!isKubeObject(found)) throw new KubeError(`GET ${name}`, "UnexpectedResponse");
      return !isOfOvnOffload(found);
    } catch (error) {
      if (isKubeError(error, "NotFound")) return false;
      throw error;
    }
  }

  return {
    names,
    isTaken,
    async recheck(signal) {
      for (const name of [...names]) await isTaken(name, signal);
    },
  };
}
