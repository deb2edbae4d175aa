// SPDX-License-Identifier: Apache-2.0
/**
 * createBuiltinLoader loads and attaches the XDP programs in this process, and remembers what drivers refuse: the MTU is too large for
 * the program, or too few queues are free. Such a device is not offered, because the kubelet would give it to a pod, which would
 * fail. So the program is tried on each device once before a pod gets it, and again when the MTU or the queues have changed.
 */
import { NetlinkError } from "@switchyard/netlink";
import type { PoolDevice } from "../pools/node-pools.ts";
import type { Prepared, XdpDevices } from "../xdp-devices.ts";

export interface BuiltinLoaderDeps {
  readonly xdp: Pick<XdpDevices, "foreignProgram" | "hasProgram" | "prepare" | "release">;
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

/** A device in the network namespace of the node. */
export interface DeviceOnHost extends DeviceForPod {
  /** Differs after a change of the interface that can change what its driver accepts. */
  readonly state: string;
  /** No pod has the device, so that a program can be tried on it. */
  readonly isFree: boolean;
}

/** How the program was attached, and the driver's answer if it refused a faster way. */
interface PreparedForPod {
  readonly mode: string;
  readonly error?: unknown;
}

export interface DeviceLoader {
  /** Returns why the device, which is in the network namespace of the node, cannot be given to pods. */
  problem(device: DeviceOnHost): Promise<string | undefined>;
  /** Pins the map of the device's program. Rejects if the device cannot be given to a pod. */
  prepare(device: DeviceForPod): Promise<PreparedForPod>;
}

export function createBuiltinLoader({ xdp, inTurn }: BuiltinLoaderDeps): DeviceLoader {
  const refusals = new Map<string, string>();
  /** States in which devices have accepted the program. */
  const accepted = new Map<string, string>();

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

  /**
   * Tries what the driver has not accepted yet, and leaves no program behind. Returns the error if the driver refuses. A device with
   * a program is not tried: a pod may have got it meanwhile, and its driver has accepted the program.
   */
  async function refusalOf(device: DeviceOnHost): Promise<string | undefined> {
    const { name, queues, isFree } = device;
    const state = `${device.state} ${queues}`;
    const attempt = async (): Promise<void> => {
      if (await xdp.hasProgram(name)) refusals.delete(name);
      else {
        await prepare(device);
        await xdp.release(name);
      }
      accepted.set(name, state);
    };
    if (isFree && (refusals.has(name) || accepted.get(name) !== state)) {
      await inTurn(attempt).catch((error: unknown) => {
        if (!(error instanceof NetlinkError)) throw error;
      });
    }
    return refusals.get(name);
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
