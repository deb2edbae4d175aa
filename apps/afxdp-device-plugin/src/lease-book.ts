// SPDX-License-Identifier: Apache-2.0
/**
 * createLeaseBook keeps the leases of the devices that pods have, and removes the XDP programs that pods have left when the kubelet
 * says that nobody has the device any longer.
 */
import type { PodDevices } from "@switchyard/kubelet";
import { NetlinkError } from "@switchyard/netlink";
import type { Logger } from "@switchyard/service";
import type { DeviceUsers } from "./device-users.ts";
import { leftPrograms, seeLease, withLease, type Lease } from "./leases.ts";
import type { DeviceId } from "./pools/device.ts";
import type { XdpDevices } from "./xdp-devices.ts";

export interface LeaseBookDeps {
  readonly xdp: Pick<XdpDevices, "foreignPrograms" | "detachPrograms">;
  readonly users: Pick<DeviceUsers, "mayBeUsed">;
  /** Runs after what else changes devices. */
  readonly inTurn: (act: () => Promise<void>) => Promise<void>;
  readonly log: Logger;
  readonly leases: () => readonly Lease[];
  /** Keeps the leases over a restart. Sets them also if it rejects, with an error of Node. */
  readonly save: (leases: readonly Lease[]) => Promise<void>;
}

export interface LeaseBook {
  /** A pod is about to get the device. */
  begin(device: DeviceId): Promise<void>;
  /**
   * Looks at the devices of pods, and ends the leases of those that no pod has. Returns whether it is to be called again soon.
   * `pods` is undefined if the kubelet did not answer.
   */
  close(pods: readonly PodDevices[] | undefined, inHost: { has(name: string): boolean }): Promise<boolean>;
}

export function createLeaseBook({ xdp, users, inTurn, log, leases, save }: LeaseBookDeps): LeaseBook {
  /** A pod gets its device also if the disk is full: then a program that it leaves is that of somebody unknown. */
  async function keep(next: readonly Lease[]): Promise<void> {
    await save(next).catch((error: unknown) => {
      log.warn({ error }, "leases of devices not recorded");
    });
  }

  /** Returns what is kept of the lease. */
  async function look(lease: Lease, isUsed: boolean, isOnHost: boolean): Promise<Lease | undefined> {
    if (!isOnHost) return seeLease(lease, undefined);
    const programs = await xdp.foreignPrograms(lease.name);
    if (isUsed) return seeLease(lease, programs);
    const left = leftPrograms(lease, programs);
    if (left.length === 0) return undefined;
    try {
      await xdp.detachPrograms(lease.name, left);
      log.info({ device: lease.name, programs: left }, "XDP programs removed that a pod has left");
      return undefined;
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      log.warn({ device: lease.name, error }, "XDP program that a pod has left not removed; retrying");
      return lease;
    }
  }

  return {
    async begin(device) {
      const programs = await xdp.foreignPrograms(device.name);
      await keep(withLease(leases(), device, programs));
    },

    async close(pods, inHost) {
      let isOpen = false;
      for (const { name } of leases()) {
        await inTurn(async () => {
          const lease = leases().find((one) => one.name === name);
          if (lease === undefined) return;
          const isOnHost = inHost.has(name);
          const isUsed = users.mayBeUsed(pods, lease);
          const next = await look(lease, isUsed, isOnHost);
          // The device is back, but the kubelet still lists its pod.
          if (next?.wasAway === true && isOnHost) isOpen = true;
          if (next === lease) return;
          await keep(leases().flatMap((one) => (one !== lease ? [one] : next === undefined ? [] : [next])));
        });
      }
      return isOpen;
    },
  };
}
