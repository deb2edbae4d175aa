// SPDX-License-Identifier: Apache-2.0
/**
 * Dynamic resource allocation (resource.k8s.io/v1) as far as PCI devices go: which devices a ResourceClaim has been given,
 * and which PCI addresses the ResourceSlices of their drivers name for them.
 * Usage: `const index = indexSlices(slices); readAllocation(claim).map((device) => index.addressesOf(device))`.
 */
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { at, entriesAt, listAt, textAt } from "./json-parts.ts";

/** A device, as claims and slices name it. */
export interface AllocatedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

/** A ResourceSlice, reduced. */
export interface DeviceSlice {
  /** The node that has the devices; absent where they belong to several. */
  readonly node?: string;
  readonly driver: string;
  readonly pool: string;
  readonly devices: readonly PublishedDevice[];
}

export interface PublishedDevice {
  readonly name: string;
  /** Its own PCI address, and those of other functions that the driver names, such as the PF of a VF. */
  readonly addresses: readonly PciAddress[];
}

/** Devices of many slices. */
export interface DeviceIndex {
  /** Empty for a device that is none of PCI; undefined where no slice describes the device. */
  addressesOf(device: AllocatedDevice): readonly PciAddress[] | undefined;
}

/** The devices that a ResourceClaim of any shape has; none before it is allocated. */
export function readAllocation(claim: unknown): readonly AllocatedDevice[] {
  const devices = at(at(at(claim, "status"), "allocation"), "devices");
  return listAt(devices, "results").flatMap((result) => {
    const [driver, pool, device] = [textAt(result, "driver"), textAt(result, "pool"), textAt(result, "device")];
    return driver === undefined || pool === undefined || device === undefined ? [] : [{ driver, pool, device }];
  });
}

/** Reads a ResourceSlice of any shape; undefined for one without a driver or a pool. */
export function readSlice(slice: unknown): DeviceSlice | undefined {
  const spec = at(slice, "spec");
  const [driver, pool] = [textAt(spec, "driver"), textAt(at(spec, "pool"), "name")];
  const node = textAt(spec, "nodeName");
  if (driver === undefined || pool === undefined) return undefined;
  const devices = listAt(spec, "devices").flatMap((device): readonly PublishedDevice[] => {
    const name = textAt(device, "name");
    return name === undefined ? [] : [{ name, addresses: addressesIn(device) }];
  });
  return { ...(node === undefined ? {} : { node }), driver, pool, devices };
}

/** While a driver replaces its slices, those of two generations can name a device: all of its addresses count. */
export function indexSlices(slices: Iterable<DeviceSlice>): DeviceIndex {
  const pools = Map.groupBy(slices, keyOf);
  return {
    addressesOf({ device, ...pool }) {
      const rows = (pools.get(keyOf(pool)) ?? []).flatMap(({ devices }) =>
        devices.filter(({ name }) => name === device),
      );
      return rows.length === 0 ? undefined : rows.flatMap(({ addresses }) => addresses);
    },
  };
}

/**
 * Attributes whose values are PCI addresses, whatever their names: beside the well-known resource.kubernetes.io/pciBusID
 * drivers have names of their own (dra-driver-sriov: pciAddress, pfPciAddress; DRANET: dra.net/pciAddress).
 */
function addressesIn(device: unknown): readonly PciAddress[] {
  const attributes = at(device, "attributes");
  const values = entriesAt(device, "attributes").flatMap(([name]) => {
    return entriesAt(attributes, name).flatMap(([kind, value]) => [value, ...listAt(at(attributes, name), kind)]);
  });
  const addresses = values.flatMap((value) => {
    const address = typeof value === "string" ? parsePciAddress(value) : undefined;
    return address?.ok === true ? [address.value] : [];
  });
  return [...new Set(addresses)];
}

function keyOf({ driver, pool }: Pick<AllocatedDevice, "driver" | "pool">): string {
  return `${driver}\n${pool}`; // names have no line ends
}
