// SPDX-License-Identifier: Apache-2.0
/** Asks the kubelet which pods have which devices. It loads gRPC, so withheld-vfs.ts loads this file with the first question. */
import { err, ok, type Result } from "@switchyard/api";
import { kubeletError, readDeviceHolders, type DeviceHolder } from "@switchyard/kubelet";

/** Returns the pods that have devices, by the id of the device, or why the kubelet does not answer. */
export async function readHolders(
  path: string,
  signal: AbortSignal,
): Promise<Result<ReadonlyMap<string, readonly DeviceHolder[]>, string>> {
  try {
    return ok(await readDeviceHolders({ path, signal }));
  } catch (error) {
    if (signal.aborted) throw error;
    return err(kubeletError(error));
  }
}
