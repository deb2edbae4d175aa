// SPDX-License-Identifier: Apache-2.0
/**
 * readKubeletDevices reads the devices for AF_XDP, and readHeldIds all that pods have, from the kubelet's API for pod resources. It loads
 * gRPC, so others load this file when they need it.
 */
import { afxdpResourcePrefix, err, ok, type Result } from "@switchyard/api";
import {
  kubeletError,
  readDeviceHolders,
  readHeldDevices,
  readOfferedDevices,
  type DevicesByResource,
} from "@switchyard/kubelet";

/** Ids of devices of the resources for AF_XDP: PCI addresses, auxiliary devices, or names on the host. */
export interface KubeletDevices {
  /** Devices that pods have. */
  readonly held: ReadonlySet<string>;
  /** Devices for which a device plugin runs, and which are healthy. */
  readonly offered: ReadonlySet<string>;
  /** Names of the pools of which pods have devices. */
  readonly heldPools: ReadonlySet<string>;
}

/** As ReadKubeletDevices. */
export async function readKubeletDevices(path: string, signal: AbortSignal): Promise<Result<KubeletDevices, string>> {
  try {
    // In this order: a device that the kubelet allocates in between is in the list of the pods.
    const offered = await readOfferedDevices(afxdpResourcePrefix, { path, signal });
    const held = await readHeldDevices(afxdpResourcePrefix, { path, signal });
    const heldPools = new Set([...held.keys()].map((resource) => resource.slice(afxdpResourcePrefix.length + 1)));
    return ok({ held: idsOf(held), offered: idsOf(offered), heldPools });
  } catch (error) {
    if (signal.aborted) throw error;
    return err(kubeletError(error));
  }
}

/** Returns the ids of the devices of all resources that pods have. */
export async function readHeldIds(path: string, signal: AbortSignal): Promise<Result<ReadonlySet<string>, string>> {
  try {
    return ok(new Set((await readDeviceHolders({ path, signal })).keys()));
  } catch (error) {
    return err(kubeletError(error));
  }
}

function idsOf(devices: DevicesByResource): ReadonlySet<string> {
  return new Set([...devices.values()].flatMap((ids) => [...ids]));
}
