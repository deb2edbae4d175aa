// SPDX-License-Identifier: Apache-2.0
/**
 * readOfferedDevices and readHeldDevices ask the kubelet which devices it can give to pods, and which devices pods have.
 * Usage: `const held = await readHeldDevices("afxdp", { path: "/var/lib/kubelet/pod-resources/kubelet.sock", signal });`
 */
import { callGrpc } from "./grpc/grpc.ts";
import { allocatableResourcesMethod, listPodResourcesMethod, type ResourceDevices } from "./pod-resources-messages.ts";

/** Full name of a resource, such as "afxdp/fast" -> ids of its devices. */
export type DevicesByResource = ReadonlyMap<string, ReadonlySet<string>>;

interface PodResources {
  /** kubelet/pod-resources/kubelet.sock */
  readonly path: string;
  readonly signal: AbortSignal;
}

const timeoutMs = 10_000;

/** Of the resources with the prefix, which is without a slash: the healthy devices of plugins that run. Rejects with a ServiceError of gRPC. */
export async function readOfferedDevices(prefix: string, kubelet: PodResources): Promise<DevicesByResource> {
  return byResource(prefix, await callGrpc(allocatableResourcesMethod, {}, { ...kubelet, timeoutMs }));
}

/** Of the resources with the prefix. Rejects with a ServiceError of gRPC. */
export async function readHeldDevices(prefix: string, kubelet: PodResources): Promise<DevicesByResource> {
  const pods = await callGrpc(listPodResourcesMethod, {}, { ...kubelet, timeoutMs });
  return byResource(
    prefix,
    pods.flatMap(({ containers }) => containers.flatMap(({ devices }) => devices)),
  );
}

/** Who has a device, and as a device of which resource. */
export interface DeviceHolder {
  /** "namespace/name" of the pod. */
  readonly pod: string;
  readonly resourceName: string;
}

/** Returns the holders of all devices that pods have, by the id of the device. Rejects with a ServiceError of gRPC. */
export async function readDeviceHolders(kubelet: PodResources): Promise<ReadonlyMap<string, readonly DeviceHolder[]>> {
  const holders = new Map<string, DeviceHolder[]>();
  for (const { name, namespace, containers } of await callGrpc(listPodResourcesMethod, {}, { ...kubelet, timeoutMs })) {
    for (const { resourceName, ids } of containers.flatMap(({ devices }) => devices)) {
      const holder = { pod: `${namespace}/${name}`, resourceName };
      for (const id of ids) holders.set(id, [...(holders.get(id) ?? []), holder]);
    }
  }
  return holders;
}

/** The kubelet may list the devices of a resource in several parts. */
function byResource(prefix: string, lists: readonly ResourceDevices[]): DevicesByResource {
  const found = new Map<string, Set<string>>();
  for (const { resourceName, ids } of lists) {
    if (!resourceName.startsWith(`${prefix}/`)) continue;
    found.set(resourceName, new Set([...(found.get(resourceName) ?? []), ...ids]));
  }
  return found;
}

/** Why the kubelet did not answer, on at most 200 characters. */
export function kubeletError(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200);
}
