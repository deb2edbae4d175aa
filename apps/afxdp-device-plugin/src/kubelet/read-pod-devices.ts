// SPDX-License-Identifier: Apache-2.0
/** Searches the kubelet's answer which pods of the node have which devices. */
import { afxdpResourcePrefix } from "@switchyard/api";
import type { ContainerDevices, PodDevices } from "@switchyard/kubelet";
import { hasDevice, type DeviceId } from "../pools/device.ts";

/** Returns the ids of all devices of the resource that pods have. */
export function heldDevices(pods: readonly PodDevices[], resourceName: string): ReadonlySet<string> {
  return new Set(pods.flatMap(({ containers }) => containers.flatMap((one) => devicesOf(one, resourceName))));
}

/** Returns the ids of all AF_XDP devices that pods have, of all pools. */
export function devicesInUse(pods: readonly PodDevices[]): ReadonlySet<string> {
  const lists = pods.flatMap(({ containers }) => containers.flatMap(({ devices }) => devices));
  const ofPools = lists.filter(({ resourceName }) => resourceName.startsWith(`${afxdpResourcePrefix}/`));
  return new Set(ofPools.flatMap(({ ids }) => ids));
}

/**
 * Returns the ids of the devices of the container in which a program runs: it says the name of its pod and has the socket of
 * `device`. The program knows no namespace, so the device decides which of several pods with this name it is. Undefined if no pod
 * with this name has the device.
 */
export function devicesOfCaller(
  pods: readonly PodDevices[],
  caller: { readonly podName: string; readonly device: DeviceId; readonly resourceName: string },
): { readonly namespace: string; readonly name: string; readonly devices: readonly string[] } | undefined {
  for (const { name, namespace, containers } of pods) {
    if (!isNamed(name, caller.podName)) continue;
    const lists = containers.map((container) => devicesOf(container, caller.resourceName));
    // Containers can share a device: an init container leaves its devices to the containers after it.
    const devices = new Set(lists.filter((list) => hasDevice(new Set(list), caller.device)).flat());
    if (devices.size > 0) return { namespace, name, devices: [...devices] };
  }
  return undefined;
}

function devicesOf({ devices }: ContainerDevices, resourceName: string): readonly string[] {
  return devices.flatMap((list) => (list.resourceName === resourceName ? list.ids : []));
}

/** Longest host name, to which the kubelet shortens the names of pods. */
const maxHostname = 63;
/** Longest name that DPDK can send: 64 bytes without "/connect," and the NUL. */
const maxSent = 54;

/** Programs say their host name, which is the beginning of the pod's name if it is too long. */
function isNamed(podName: string, said: string): boolean {
  if (podName === said) return true;
  const isCut = said.length === maxSent || said.length === maxHostname || said.length === maxSent + 1;
  // The kubelet removes "-" and "." from the end of a host name that it has shortened.
  const hostname = podName.slice(0, maxHostname).replace(/[-.]+$/, "");
  return said === hostname || (isCut && podName.startsWith(said));
}
