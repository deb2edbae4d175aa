// SPDX-License-Identifier: Apache-2.0
/**
 * What the objects of a cluster say of its devices, put together for podUse().
 * Usage: `const factsFor = createDeviceFacts({ slices, devicesOf, pfsOf }); podUse(devices, factsFor(pod))`.
 */
import { indexSlices, type AllocatedDevice, type DeviceSlice } from "./allocated-devices.ts";
import { pfOf, type PfAddresses } from "./pf-addresses.ts";
import type { DeviceFacts } from "./pod-use.ts";

export interface DeviceSources {
  readonly slices: readonly DeviceSlice[];
  /** The devices of a ResourceClaim; undefined where there is no such claim. */
  readonly devicesOf: (namespace: string, claim: string) => readonly AllocatedDevice[] | undefined;
  /** The PFs and VFs of a node, as its daemon reported them. */
  readonly pfsOf: (node: string) => readonly PfAddresses[];
}

export interface PlacedPod {
  readonly node: string;
  readonly namespace: string;
}

/** Looks at slices only where a pod has claims. */
export function createDeviceFacts({ slices, devicesOf, pfsOf }: DeviceSources): (pod: PlacedPod) => DeviceFacts {
  const byDriver = Map.groupBy(slices, ({ driver }) => driver);
  const index = indexSlices(slices);
  const nicDrivers = new Map<string, boolean>();

  /** By any node: where the slices of one node are missing, others have them. */
  function isNicDriver(driver: string): boolean {
    const known = nicDrivers.get(driver);
    if (known !== undefined) return known;
    const isOne = (byDriver.get(driver) ?? []).some((slice) => publishesNics(slice, pfsOf));
    nicDrivers.set(driver, isOne);
    return isOne;
  }

  return ({ node, namespace }) => ({
    devicesOf: (claim) => devicesOf(namespace, claim),
    addressesOf: (device) => index.addressesOf(device),
    pfs: pfsOf(node),
    isNicDriver,
  });
}

/** Whether the slice names a PF or a VF of its node: then its driver is one of NICs. */
export function publishesNics({ node, devices }: DeviceSlice, pfsOf: DeviceSources["pfsOf"]): boolean {
  const pfs = node === undefined ? [] : pfsOf(node);
  return devices.some(({ addresses }) => addresses.some((address) => pfOf(address, pfs) !== undefined));
}
