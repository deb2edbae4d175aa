// SPDX-License-Identifier: Apache-2.0
/**
 * A lease is a device that the kubelet has given to a pod, with what was seen on it meanwhile. Programs of the pod itself, such as
 * those of libxdp, stay on a device when the pod is killed, and the next pod cannot attach its own. A lease tells them from programs
 * of the host: a program of the pod was not there when the pod got the device, and was there while the pod had it. Pure.
 */
import type { DeviceId } from "./pools/device.ts";

export interface Lease extends DeviceId {
  /** Ids of the XDP programs of others that the device had when the pod got it. */
  readonly before: readonly number[];
  /** Ids of those that were seen on it while the pod had it, on the host. */
  readonly seen: readonly number[];
  /** Whether the device was in the network namespace of the pod, where nobody else can attach a program. */
  readonly wasAway: boolean;
}

/** Returns the leases with the device, which a pod has just got with these programs on it. */
export function withLease(leases: readonly Lease[], device: DeviceId, programs: readonly number[]): readonly Lease[] {
  const { id, name } = device;
  return [...leases.filter((one) => one.name !== name), { id, name, before: programs, seen: [], wasAway: false }];
}

/** What is seen of a device of a lease while a pod has it. `programs` is undefined if it is not on the host. */
export function seeLease(lease: Lease, programs: readonly number[] | undefined): Lease {
  if (programs === undefined) return lease.wasAway ? lease : { ...lease, wasAway: true };
  const added = programs.filter((id) => !lease.before.includes(id) && !lease.seen.includes(id));
  return added.length === 0 ? lease : { ...lease, seen: [...lease.seen, ...added] };
}

/** Returns which of the programs on the device the pod has left. */
export function leftPrograms({ before, seen, wasAway }: Lease, programs: readonly number[]): readonly number[] {
  return programs.filter((id) => !before.includes(id) && (wasAway || seen.includes(id)));
}
