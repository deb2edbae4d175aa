// SPDX-License-Identifier: Apache-2.0
/**
 * createDevicePreparer attaches the program to devices for pods, and remembers what drivers refuse: the MTU is too large for the
 * program, or too few queues are free. Such a device is not offered, because the kubelet would give it to the next pod, which would
 * fail too.
 * Usage: `const preparer = createDevicePreparer({ xdp, inTurn }); await inTurn(() => preparer.prepare(device, pool));`
 */
import { NetlinkError } from "@switchyard/netlink";
import type { NodePool, PoolDevice } from "./pools/node-pools.ts";
import type { Prepared, XdpDevices } from "./xdp-devices.ts";

export interface DevicePreparer {
  /** Attaches the program. Call it in turn. Rejects with the error of the driver, or ForeignProgramError. */
  prepare(device: PoolDevice, pool: NodePool): Promise<Prepared>;
  /** Tries again what the driver refused, and leaves no program behind. Returns the error if the driver still refuses. */
  refusalOf(device: PoolDevice, pool: NodePool): Promise<string | undefined>;
}

export interface DevicePreparerDeps {
  readonly xdp: Pick<XdpDevices, "prepare" | "release">;
  /** Runs after what else changes devices. */
  readonly inTurn: (act: () => Promise<void>) => Promise<void>;
}

export function createDevicePreparer({ xdp, inTurn }: DevicePreparerDeps): DevicePreparer {
  const refusals = new Map<string, string>();

  async function prepare(device: PoolDevice, pool: NodePool): Promise<Prepared> {
    try {
      const prepared = await xdp.prepare({ ...device, uid: pool.hasPinnedMap ? pool.uid : 0 });
      refusals.delete(device.name);
      return prepared;
    } catch (error) {
      if (error instanceof NetlinkError) refusals.set(device.name, error.message);
      throw error;
    }
  }

  return {
    prepare,

    async refusalOf(device, pool) {
      const tryAgain = async (): Promise<void> => {
        if (!refusals.has(device.name)) return; // a pod got the device meanwhile
        await prepare(device, pool);
        await xdp.release(device.name);
      };
      if (refusals.has(device.name)) {
        await inTurn(tryAgain).catch((error: unknown) => {
          if (!(error instanceof NetlinkError)) throw error;
        });
      }
      return refusals.get(device.name);
    },
  };
}
