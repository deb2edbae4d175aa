// SPDX-License-Identifier: Apache-2.0
/**
 * Dynamic resource allocation (resource.k8s.io/v1) of PCI devices: which devices are allocated to a ResourceClaim, and
 * which PCI addresses these devices have according to the ResourceSlices of their drivers.
 * Usage: `const index = indexSlices(slices); readAllocation(claim).map((device) => index.addressesOf(device))`.
 */
import { defined, parsePciAddress, type PciAddress } from "@switchyard/api";
import { at, entriesAt, listAt, textAt } from "./json-parts.ts";

/** A device as identified in claims and slices. */
export interface AllocatedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

/** The parts of a ResourceSlice that are used. */
export interface DeviceSlice {
  /** Node that has the devices; absent if they do not belong to a single node. */
  readonly node?: string;
  readonly driver: string;
  readonly pool: string;
  readonly devices: readonly PublishedDevice[];
}

interface PublishedDevice {
  readonly name: string;
  /** PCI address of the device, and those of related functions that the driver publishes, such as the PF of a VF. */
  readonly addresses: readonly PciAddress[];
}

/** Looks up the devices of many slices. */
interface DeviceIndex {
  /** Returns the device's PCI addresses: empty if it is not a PCI device, undefined if no slice contains it. */
  addressesOf(device: AllocatedDevice): readonly PciAddress[] | undefined;
}

/** Returns the devices that are allocated to a ResourceClaim, which may be malformed; empty before the allocation. */
export function readAllocation(claim: unknown): readonly AllocatedDevice[] {
  const devices = at(at(at(claim, "status"), "allocation"), "devices");
  return listAt(devices, "results").flatMap((result) => {
    const [driver, pool, device] = [textAt(result, "driver"), textAt(result, "pool"), textAt(result, "device")];
    return driver === undefined || pool === undefined || device === undefined ? [] : [{ driver, pool, device }];
  });
}

/** Parses a ResourceSlice, which may be malformed; undefined if it has no driver or no pool. */
export function readSlice(slice: unknown): DeviceSlice | undefined {
  const spec = at(slice, "spec");
  const [driver, pool] = [textAt(spec, "driver"), textAt(at(spec, "pool"), "name")];
  const node = textAt(spec, "nodeName");
  if (driver === undefined || pool === undefined) return undefined;
  const devices = listAt(spec, "devices").flatMap((device): readonly PublishedDevice[] => {
    const name = textAt(device, "name");
    return name === undefined ? [] : [{ name, addresses: addressesIn(device) }];
  });
  return { ...defined({ node }), driver, pool, devices };
}

/**
 * Indexes slices by driver and pool. While a driver replaces its slices, slices of two generations can contain the same
 * device; then the addresses of both are returned.
 */
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
 * Returns the values of all attributes that are PCI addresses, for any attribute name: besides the well-known
 * resource.kubernetes.io/pciBusID, drivers use their own names (dra-driver-sriov: pciAddress, pfPciAddress; DRANET:
 * dra.net/pciAddress).
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
  return `${driver}\n${pool}`; // names cannot contain line breaks
}
