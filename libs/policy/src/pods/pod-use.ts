// SPDX-License-Identifier: Apache-2.0
/**
 * podUse determines which VFs of a node a pod uses. Drains, the warnings of the webhook and the command line all use
 * it.
 * Usage: `const use = podUse(readPodDevices(pod, "openshift.io"), facts); const mustLeave = usesAny(use, isConfiguredPf);`
 *
 * If the result is uncertain, the pod counts as using VFs: an unnecessary eviction costs little, but a pod that is
 * missed loses its network. An unknown device counts as a possible VF only if its driver is known to publish NICs.
 * Otherwise each pod with a GPU would be evicted while the GPU's driver is being replaced.
 */
import type { PciAddress } from "@switchyard/api";
import type { AllocatedDevice } from "./allocated-devices.ts";
import { pfOf, type PfAddresses } from "./pf-addresses.ts";
import type { PodDevices } from "./pod-devices.ts";

/** The VFs that a pod uses. */
export interface PodUse {
  /** Requested resources, without their prefix. */
  readonly resources: readonly string[];
  /** PCI addresses of PFs of which the pod was allocated a VF or the PF itself, sorted and unique. */
  readonly pfs: readonly string[];
  /** Whether the pod may use further VFs. */
  readonly isUncertain: boolean;
}

/** What is known about devices, for the pods of one node and one namespace (device-lookup.ts). */
export interface DeviceLookup {
  /** Returns the devices of a ResourceClaim; undefined if the claim does not exist. */
  readonly devicesOf: (claim: string) => readonly AllocatedDevice[] | undefined;
  /** Returns the PCI addresses of the device; undefined if no slice contains it. */
  readonly addressesOf: (device: AllocatedDevice) => readonly PciAddress[] | undefined;
  /** PFs of the pod's node. */
  readonly pfs: readonly PfAddresses[];
  /** Reports whether the driver publishes NICs. */
  readonly isNicDriver: (driver: string) => boolean;
}

/** Determines the VFs that a pod with these devices uses. */
export function podUse({ resources, claims }: PodDevices, facts: DeviceLookup): PodUse {
  const pfs = new Set<string>();
  let isUncertain = false;
  for (const claim of claims) {
    const devices = facts.devicesOf(claim);
    // Kubernetes keeps a claim while a pod uses it, so a missing claim was removed by force.
    isUncertain ||= devices === undefined;
    for (const device of devices ?? []) {
      const addresses = facts.addressesOf(device);
      const found = (addresses ?? []).flatMap((address) => pfOf(address, facts.pfs) ?? []);
      for (const pf of found) pfs.add(pf);
      // A device that is published without an address is not a PCI device.
      const isUnknown = found.length === 0 && addresses?.length !== 0;
      isUncertain ||= isUnknown && facts.isNicDriver(device.driver);
    }
  }
  return { resources, pfs: [...pfs].sort(), isUncertain };
}

/** Reports whether the pod uses, or may use, a VF resource or a PF for which `isRelevant` returns true. */
export function usesAny({ resources, pfs, isUncertain }: PodUse, isRelevant: (pf: string) => boolean): boolean {
  return resources.length > 0 || pfs.some(isRelevant) || isUncertain;
}
