// SPDX-License-Identifier: Apache-2.0
/** kubeletReader asks the kubelet of the node which pods have which devices, and which devices plugins offer. */
import { err, ok, type Result } from "@switchyard/api";
import { createHoldersReader, createPodResources, kubeletError } from "@switchyard/kubelet";
import type { KubeletDevices } from "../slices/withheld-from-claims.ts";

export interface KubeletReader {
  /** For a decision to publish VFs: a kubelet that has just started does not know its pods yet. Rejects if the signal has aborted. */
  read(signal: AbortSignal): Promise<Result<KubeletDevices, string>>;
  /** As read(). Also for a kubelet that has just started: pods of claims start then. */
  readNow(signal: AbortSignal): Promise<Result<KubeletDevices, string>>;
}

/** `path` is that of the socket in the kubelet's directory pod-resources. */
export function kubeletReader(path: string): KubeletReader {
  const podResources = createPodResources({ path });
  const reader = createHoldersReader({ podResources });

  async function readFrom(signal: AbortSignal) {
    try {
      // In this order: a device that the kubelet allocates in between is in the list of the pods.
      const { devices } = await podResources.listOffered(signal, { isFresh: true });
      const { byId, isNewKubelet } = await reader.read(signal, { isFresh: true });
      return ok({ holders: byId, offered: new Set(devices.flatMap(({ ids }) => ids)), isNewKubelet });
    } catch (error) {
      if (signal.aborted) throw error;
      return err(kubeletError(error));
    }
  }

  return {
    readNow: readFrom,
    async read(signal) {
      const found = await readFrom(signal);
      return found.ok && found.value.isNewKubelet
        ? err("the kubelet has just started, and may not know all pods yet")
        : found;
    },
  };
}
