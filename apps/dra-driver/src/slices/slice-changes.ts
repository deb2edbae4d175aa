// SPDX-License-Identifier: Apache-2.0
/**
 * sliceChanges compares the ResourceSlices that a node should have with those that it has, and returns the writes. It is a pure function.
 *
 * The scheduler uses only slices of the newest generation of a pool, and only if all of them are there. So a change that needs one
 * write keeps the generation, and a change that needs several raises it: meanwhile nobody sees a VF in two slices, or in none.
 */
import { draDriverName, type Device, type ResourceSlice } from "@switchyard/api";
import { isDeepStrictEqual } from "node:util";

/** A slice as the API server stores it, with the times at which taints were added. Those of other drivers can lack fields. */
export interface StoredSlice extends Omit<ResourceSlice, "spec"> {
  readonly spec: Omit<ResourceSlice["spec"], "devices"> & { readonly devices?: readonly StoredDevice[] };
}

type StoredDevice = Pick<Device, "name" | "taints"> & Partial<Pick<Device, "attributes">>;

export interface SliceChanges {
  /** To be applied in this order. */
  readonly apply: readonly ResourceSlice[];
  /** To be deleted after that. */
  readonly remove: readonly StoredSlice[];
}

/** `stored` are all slices of the node, also those of other drivers. */
export function sliceChanges(wanted: readonly ResourceSlice[], stored: readonly StoredSlice[]): SliceChanges {
  const own = stored.filter(({ spec }) => spec.driver === draDriverName);
  const byName = new Map(own.map((slice) => [slice.metadata.name, slice]));
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const newest = Math.max(0, ...own.map(({ spec }) => spec.pool.generation));
  const differing = wanted.filter((slice) => !isStored(slice, byName.get(slice.metadata.name), newest));
  const surplus = own.filter(({ metadata }) => !names.has(metadata.name));
  if (differing.length + surplus.length === 0) return { apply: [], remove: [] };
  const isSingle = differing.length === 1 && surplus.length === 0 && own.length === wanted.length;
  const generation = isSingle ? newest : newest + 1;
  const apply = (isSingle ? differing : wanted).map((slice) =>
    withTimes(slice, byName.get(slice.metadata.name), generation),
  );
  return { apply, remove: surplus };
}

/** A slice of an older generation is what an interrupted change left behind. */
function isStored(wanted: ResourceSlice, stored: StoredSlice | undefined, newest: number): boolean {
  if (stored === undefined || stored.spec.pool.generation !== newest) return false;
  const { pool, devices, ...spec } = wanted.spec;
  const { pool: storedPool, devices: storedDevices, ...storedSpec } = stored.spec;
  return (
    pool.resourceSliceCount === storedPool.resourceSliceCount &&
    isDeepStrictEqual(spec, storedSpec) &&
    isDeepStrictEqual(devices, (storedDevices ?? []).map(withoutTimes))
  );
}

/** The API server adds the time of a taint, and takes one that is sent without it for new. */
interface TimedTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}

function withoutTimes({ taints, ...device }: StoredDevice): StoredDevice {
  if (taints === undefined) return device;
  return { ...device, taints: taints.map(({ timeAdded: _time, ...taint }: TimedTaint) => taint as never) };
}

function withTimes(wanted: ResourceSlice, stored: StoredSlice | undefined, generation: number): ResourceSlice {
  const before = new Map(stored?.spec.devices?.map((device) => [device.name, device]));
  const devices = wanted.spec.devices.map((device) => {
    if (device.taints === undefined) return device;
    const known: readonly TimedTaint[] = before.get(device.name)?.taints ?? [];
    const taints = device.taints.map((taint) => {
      const same = known.find(
        ({ key, value, effect }) => key === taint.key && value === taint.value && effect === taint.effect,
      );
      return same?.timeAdded === undefined ? taint : { ...taint, timeAdded: same.timeAdded };
    });
    return { ...device, taints };
  });
  return { ...wanted, spec: { ...wanted.spec, pool: { ...wanted.spec.pool, generation }, devices } };
}
