// SPDX-License-Identifier: Apache-2.0
/** Asks the kubelet which pods have which devices. It loads gRPC, so withheld-vfs.ts loads this file with the first question. */
import { err, ok, type Result } from "@switchyard/api";
import {
  createHoldersReader,
  createPodResources,
  kubeletError,
  type KnownHolders,
  type PodName,
} from "@switchyard/kubelet";

/** Returns the holders of devices, or why the kubelet does not answer. */
export type HoldersAt = (signal: AbortSignal) => Promise<Result<KnownHolders, string>>;

/** Asks the kubelet with this socket for the pods that have devices. The error says why it does not answer. */
export function holdersAt(path: string, ownPod: PodName | undefined): HoldersAt {
  const reader = createHoldersReader({ podResources: createPodResources({ path }), ownPod });
  return async (signal) => {
    try {
      return ok(await reader.read(signal, { isFresh: true }));
    } catch (error) {
      if (signal.aborted) throw error;
      return err(kubeletError(error));
    }
  };
}
