// SPDX-License-Identifier: Apache-2.0
/**
 * createBuiltinLoader loads and attaches the XDP programs in this process, and remembers what drivers refuse: the MTU is too large for
 * the program, or too few queues are free. Such a device is not offered, because the kubelet would give it to the next pod, which
 * would fail too.
 */
import { NetlinkError } from "@switchyard/netlink";
import type { PoolDevice } from "../pools/node-pools.ts";
import type { Prepared, XdpDevices } from "../xdp-devices.ts";

export interface BuiltinLoaderDeps {
  readonly xdp: Pick<XdpDevices, "foreignProgram" | "prepare" | "release">;
  /** Runs after what else changes devices. */
  readonly inTurn: (act: () => Promise<void>) => Promise<void>;
}

/**
 * A DeviceLoader says whether a device has the XDP program that it needs, and gets the XSK map of the program for a pod. The
 * program is loaded by this process (builtin-loader.ts) or by bpfman (bpfman-loader.ts).
 * A device that a pod is about to get.
 */
export interface DeviceForPod extends PoolDevice {
  /** Owner of the pinned map. */
  readonly uid: number;
}

/** How the program was attached, and the driver's answer if it refused a faster way. */
interface PreparedForPod {
  readonly mode: string;
  readonly error?: unknown;
}

export interface DeviceLoader {
  /** Returns why the device, which is in the network namespace of the node, cannot be given to pods. */
  problem(device: DeviceForPod): Promise<string | undefined>;
  /** Pins the map of the device's program. Rejects if the device cannot be given to a pod. */
  prepare(device: DeviceForPod): Promise<PreparedForPod>;
}

export function createBuiltinLoader({ xdp, inTurn }: BuiltinLoaderDeps): DeviceLoader {
  const refusals = new Map<string, string>();

  async function prepare(device: DeviceForPod): Promise<Prepared> {
    try {
      const prepared = await xdp.prepare(device);
      refusals.delete(device.name);
      return prepared;
    } catch (error) {
      if (error instanceof NetlinkError) refusals.set(device.name, error.message);
      throw error;
    }
  }

  /** Tries again what the driver refused, and leaves no program behind. Returns the error if the driver still refuses. */
  async function refusalOf(device: DeviceForPod): Promise<string | undefined> {
    const tryAgain = async (): Promise<void> => {
      if (!refusals.has(device.name)) return; // a pod got the device meanwhile
      await prepare(device);
      await xdp.release(device.name);
    };
    if (refusals.has(device.name)) {
      await inTurn(tryAgain).catch((error: unknown) => {
        if (!(error instanceof NetlinkError)) throw error;
      });
    }
    return refusals.get(device.name);
  }

  return {
    async problem(device) {
      const foreign = await xdp.foreignProgram(device.name);
      return foreign === undefined
        ? await refusalOf(device)
        : `it has an XDP program that Switchyard did not attach: ${foreign}`;
    },
    prepare,
  };
}
