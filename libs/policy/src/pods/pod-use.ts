// SPDX-License-Identifier: Apache-2.0
/**
 * Which of a node's VFs a pod uses: the one answer for drains, for the webhook's warnings and for the command line.
 * Usage: `const use = podUse(readPodDevices(pod, "openshift.io"), facts); if (usesAny(use, isOurPf)) …`.
 *
 * An answer that is not certain says so, and counts as a use: a pod that is moved without need loses little, one that is missed
 * loses its network. But a device of which nothing is known may be a VF only where its driver is known to publish NICs: else
 * each pod with a GPU whose driver is being replaced would have to go.
 */
import type { PciAddress } from "@switchyard/api";
import type { AllocatedDevice } from "./allocated-devices.ts";
import { pfOf, type PfAddresses } from "./pf-addresses.ts";
import type { PodDevices } from "./pod-devices.ts";

export interface PodUse {
  /** VF resources that it requests, by the names that policies give them. */
  readonly resources: readonly string[];
  /** PCI addresses of PFs: it has been allocated one of their VFs, or the PF itself. Sorted, each once. */
  readonly pfs: readonly string[];
  /** It may use more than that. */
  readonly isUncertain: boolean;
}

/** What is known of devices, for the pods of one node and one namespace (device-facts.ts). */
export interface DeviceFacts {
  /** The devices of a ResourceClaim; undefined where there is no such claim. */
  readonly devicesOf: (claim: string) => readonly AllocatedDevice[] | undefined;
  /** As DeviceIndex has it. */
  readonly addressesOf: (device: AllocatedDevice) => readonly PciAddress[] | undefined;
  /** Of the pod's node. */
  readonly pfs: readonly PfAddresses[];
  /** Whether the driver is one that publishes NICs. */
  readonly isNicDriver: (driver: string) => boolean;
}

export function podUse({ resources, claims }: PodDevices, facts: DeviceFacts): PodUse {
  const pfs = new Set<string>();
  let isUncertain = false;
  for (const claim of claims) {
    const devices = facts.devicesOf(claim);
    isUncertain ||= devices === undefined; // A claim stays for as long as a pod has it, unless somebody tears it out.
    for (const device of devices ?? []) {
      const addresses = facts.addressesOf(device);
      const found = (addresses ?? []).flatMap((address) => pfOf(address, facts.pfs) ?? []);
      for (const pf of found) pfs.add(pf);
      // A device without any address is none of PCI.
      const isUnknown = found.length === 0 && addresses?.length !== 0;
      isUncertain ||= isUnknown && facts.isNicDriver(device.driver);
    }
  }
  return { resources, pfs: [...pfs].sort(), isUncertain };
}

/** Whether the pod uses VFs at all, or such PFs; a pod that may do so does. */
export function usesAny({ resources, pfs, isUncertain }: PodUse, isOurs: (pf: string) => boolean): boolean {
  return resources.length > 0 || pfs.some(isOurs) || isUncertain;
}
