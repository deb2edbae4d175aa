// SPDX-License-Identifier: Apache-2.0
/**
 * readKernelSettings reads what the plugin depends on: the release of the kernel, and whether unprivileged processes may use BPF.
 */
import { afxdpResourcePrefix, err, ok, type Result } from "@switchyard/api";
import {
  kubeletError,
  heldDevicesIn,
  mayLackPods,
  readOfferedDevices,
  type DevicesByResource,
  type PodResources,
} from "@switchyard/kubelet";
import type { AfxdpPluginsSettings } from "@switchyard/render";
import { isErrno } from "@switchyard/service";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export type KernelSettings = Pick<AfxdpPluginsSettings, "kernelRelease" | "unprivilegedBpfDisabled">;

/** `root` has proc/sys. A kernel without a parameter has no value of it. */
export async function readKernelSettings(root: string): Promise<KernelSettings> {
  const [kernelRelease, unprivilegedBpfDisabled] = await Promise.all(
    ["osrelease", "unprivileged_bpf_disabled"].map((name) => readParameter(join(root, "proc/sys/kernel", name))),
  );
  return { kernelRelease, unprivilegedBpfDisabled };
}

async function readParameter(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

/**
 * readOffered asks the kubelet which AF_XDP devices it can give to pods, and readHeldPools of which pools pods have devices. This is
 * the only evidence that the plugin has registered: it also keeps running if it has not. The kubelet answers on a socket, so no rights
 * in the cluster are needed.
 * The devices of AF_XDP pools, or why the kubelet does not answer.
 */
export async function readOffered(
  kubelet: PodResources,
  signal: AbortSignal,
): Promise<Result<DevicesByResource, string>> {
  try {
    return ok(await readOfferedDevices(afxdpResourcePrefix, kubelet, signal));
  } catch (error) {
    if (signal.aborted) throw error;
    return err(kubeletError(error));
  }
}

/** Returns undefined if the kubelet has just started, and may not know all pods yet. Rejects with a ServiceError of gRPC. */
export async function readHeldPools(
  kubelet: Pick<PodResources, "listPods">,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const list = await kubelet.listPods(signal);
  if (mayLackPods(list)) return undefined;
  const held = heldDevicesIn(afxdpResourcePrefix, list.pods);
  return new Set([...held.keys()].map((resourceName) => resourceName.slice(afxdpResourcePrefix.length + 1)));
}
