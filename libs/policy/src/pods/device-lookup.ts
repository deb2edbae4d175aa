// SPDX-License-Identifier: Apache-2.0
/**
 * createDeviceLookup collects what podUse needs to know about the devices of a cluster.
 * Usage: `const factsFor = createDeviceLookup({ slices, devicesOf, pfsOf }); podUse(devices, factsFor(pod))`.
 */
import { indexSlices, type AllocatedDevice, type DeviceSlice } from "./allocated-devices.ts";
import { pfOf, type PfAddresses } from "./pf-addresses.ts";
import type { DeviceLookup } from "./pod-use.ts";

/** Where the facts come from. */
export interface DeviceSources {
  readonly slices: readonly DeviceSlice[];
  /** Returns the devices of a ResourceClaim; undefined if the claim does not exist. */
  readonly devicesOf: (namespace: string, claim: string) => readonly AllocatedDevice[] | undefined;
  /** Returns the PFs and VFs of a node as reported by its daemon. */
  readonly pfsOf: (node: string) => readonly PfAddresses[];
}

/** A scheduled pod. */
export interface PlacedPod {
  readonly node: string;
  readonly namespace: string;
}

/** Returns a function that returns the facts for a pod. Slices are only evaluated for pods that have claims. */
export function createDeviceLookup({ slices, devicesOf, pfsOf }: DeviceSources): (pod: PlacedPod) => DeviceLookup {
  const byDriver = Map.groupBy(slices, ({ driver }) => driver);
  const index = indexSlices(slices);
  const nicDrivers = new Map<string, boolean>();

  /** Considers the slices of all nodes, because those of one node may be missing. */
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

/** Reports whether the slice contains a PF or VF of its node. If so, its driver publishes NICs. */
export function publishesNics({ node, devices }: DeviceSlice, pfsOf: DeviceSources["pfsOf"]): boolean {
  const pfs = node === undefined ? [] : pfsOf(node);
  return devices.some(({ addresses }) => addresses.some((address) => pfOf(address, pfs) !== undefined));
}
