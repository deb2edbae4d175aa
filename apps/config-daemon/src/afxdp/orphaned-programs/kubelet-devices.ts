// SPDX-License-Identifier: Apache-2.0
/**
 * kubeletDevices asks the kubelet which AF_XDP devices pods have, and which it can give to pods. It is the only source that knows the
 * devices of pods. gRPC, which costs memory on each node, is loaded with the first call.
 */
import type { Result } from "@switchyard/api";
import { join } from "node:path";
import type { KubeletDevices } from "../../observe/read-kubelet-devices.ts";

/** Resolves with the error of the kubelet if it does not answer. Rejects if the signal has aborted. */
export type ReadKubeletDevices = (signal: AbortSignal) => Promise<Result<KubeletDevices, string>>;

/** `hostRoot` contains var/lib/kubelet. */
export function kubeletDevices(hostRoot: string): ReadKubeletDevices {
  const path = join(hostRoot, "var/lib/kubelet/pod-resources/kubelet.sock");
  return async (signal) => {
    const { readKubeletDevices } = await import("../../observe/read-kubelet-devices.ts");
    return readKubeletDevices(path, signal);
  };
}
