// SPDX-License-Identifier: Apache-2.0
/**
 * readOffered asks the kubelet which AF_XDP devices it can give to pods, and readHeldPools of which pools pods have devices. This is
 * the only evidence that the plugin has registered: it also keeps running if it has not. The kubelet answers on a socket, so no rights
 * in the cluster are needed.
 * Usage: `const offered = await readOffered("/var/lib/kubelet/pod-resources/kubelet.sock", signal);`
 */
import { afxdpResourcePrefix, err, ok, type Result } from "@switchyard/api";
import { kubeletError, readHeldDevices, readOfferedDevices, type DevicesByResource } from "@switchyard/kubelet";

/** The devices of AF_XDP pools, or why the kubelet does not answer. */
export async function readOffered(path: string, signal: AbortSignal): Promise<Result<DevicesByResource, string>> {
  try {
    return ok(await readOfferedDevices(afxdpResourcePrefix, { path, signal }));
  } catch (error) {
    if (signal.aborted) throw error;
    return err(kubeletError(error));
  }
}

/** Rejects with a ServiceError of gRPC. */
export async function readHeldPools(path: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const held = await readHeldDevices(afxdpResourcePrefix, { path, signal });
  return new Set([...held.keys()].map((resourceName) => resourceName.slice(afxdpResourcePrefix.length + 1)));
}
