// SPDX-License-Identifier: Apache-2.0
/**
 * readOfferedDevices reads from the kubelet which devices it can give to pods. heldDevicesIn() and holdersIn() say which devices pods have,
 * and which pods these are.
 * Usage: `const held = heldDevicesIn("afxdp", (await createPodResources({ path }).listPods(signal)).pods);`
 */
import type { ContainerDevices, PodDevices, ResourceDevices } from "./pod-resources-messages.ts";
import type { PodResources, ReadOptions } from "./pod-resources.ts";

/** Full name of a resource, such as "afxdp/fast" -> ids of its devices. */
export type DevicesByResource = ReadonlyMap<string, ReadonlySet<string>>;

/** Of the resources with the prefix, which is without a slash: the healthy devices of plugins that run. As PodResources.listOffered(). */
export async function readOfferedDevices(
  prefix: string,
  kubelet: Pick<PodResources, "listOffered">,
  signal: AbortSignal,
  options?: ReadOptions,
): Promise<DevicesByResource> {
  return byResource(prefix, (await kubelet.listOffered(signal, options)).devices);
}

/** Of the resources with the prefix, the devices that pods have. Pure. */
export function heldDevicesIn(prefix: string, pods: readonly PodDevices[]): DevicesByResource {
  return byResource(
    prefix,
    pods.flatMap(({ containers }) => containers.flatMap(({ devices }) => devices)),
  );
}

/** Who has a device, and how. */
export interface DeviceHolder {
  readonly namespace: string;
  /** Name of the pod. */
  readonly name: string;
  /** Uid of the pod, as the kubelet knows it: that of a static pod is not the uid of its mirror pod. Absent if it is not certain. */
  readonly uid?: string;
  readonly via: "device-plugin" | "dra";
  /** Full name of the resource, or of the driver of a ResourceClaim. */
  readonly resource: string;
}

/**
 * Returns the holders of all devices that pods have, by the id of the device. A device of a ResourceClaim counts if its name contains a
 * PCI address, which is its id then. Pure.
 */
export function holdersIn(pods: readonly PodDevices[]): ReadonlyMap<string, readonly DeviceHolder[]> {
  const holders = new Map<string, DeviceHolder[]>();
  for (const { name, namespace, containers } of pods) {
    for (const { id, via, resource } of containers.flatMap(devicesOf)) {
      const known = holders.get(id) ?? [];
      // The containers of a pod can share a device.
      const isKnown = known.some(
        (one) => one.name === name && one.namespace === namespace && one.resource === resource,
      );
      if (!isKnown) holders.set(id, [...known, { namespace, name, via, resource }]);
    }
  }
  return holders;
}

interface HeldDevice extends Pick<DeviceHolder, "via" | "resource"> {
  readonly id: string;
}

function devicesOf({ devices, claimed = [] }: ContainerDevices): readonly HeldDevice[] {
  return [
    ...devices.flatMap(({ resourceName: resource, ids }) =>
      ids.map((id) => ({ id, via: "device-plugin" as const, resource })),
    ),
    ...claimed.flatMap(({ driver, device }) => {
      const id = addressIn(device);
      return id === undefined ? [] : [{ id, via: "dra" as const, resource: driver }];
    }),
  ];
}

/**
 * Drivers for NICs name devices by their PCI addresses, with dashes: "0000-08-00-1" (dra-driver-sriov), "pci-0000-08-00-1" (DRANET).
 * Names of devices are DNS labels.
 */
export function addressIn(device: string): string | undefined {
  const [, domain, bus, slot, fn] = /(?:^|-)([0-9a-f]{4})-([0-9a-f]{2})-([0-9a-f]{2})-([0-7])$/.exec(device) ?? [];
  return fn === undefined ? undefined : `${domain ?? ""}:${bus ?? ""}:${slot ?? ""}.${fn}`;
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
