// SPDX-License-Identifier: Apache-2.0
/**
 * readKubeletDevices reads the devices for AF_XDP from the kubelet's API for pod resources. kubelet-devices.ts loads this file.
 * Usage: `const devices = await readKubeletDevices("/host/var/lib/kubelet/pod-resources/kubelet.sock", signal);`
 */
import { afxdpResourcePrefix, err, ok, type Result } from "@switchyard/api";
import {
  allocatableResourcesMethod,
  callGrpc,
  listPodResourcesMethod,
  type ResourceDevices,
} from "@switchyard/kubelet";

/** Ids of devices of the resources for AF_XDP: PCI addresses, auxiliary devices, or names on the host. */
export interface KubeletDevices {
  /** Devices that pods have. */
  readonly held: ReadonlySet<string>;
  /** Devices for which a device plugin runs, and which are healthy. */
  readonly offered: ReadonlySet<string>;
}

const timeoutMs = 10_000;
const maxWords = 200;

/** As ReadKubeletDevices. */
export async function readKubeletDevices(path: string, signal: AbortSignal): Promise<Result<KubeletDevices, string>> {
  const options = { path, timeoutMs, signal };
  try {
    // In this order: a device that the kubelet allocates in between is in the list of the pods.
    const offered = idsOf(await callGrpc(allocatableResourcesMethod, {}, options));
    const pods = await callGrpc(listPodResourcesMethod, {}, options);
    const held = idsOf(pods.flatMap(({ containers }) => containers.flatMap(({ devices }) => devices)));
    return ok({ held, offered });
  } catch (error) {
    if (signal.aborted) throw error;
    return err((error instanceof Error ? error.message : String(error)).slice(0, maxWords));
  }
}

function idsOf(resources: readonly ResourceDevices[]): ReadonlySet<string> {
  const ofAfxdp = resources.filter(({ resourceName }) => resourceName.startsWith(`${afxdpResourcePrefix}/`));
  return new Set(ofAfxdp.flatMap(({ ids }) => ids));
}
