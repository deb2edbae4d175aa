// SPDX-License-Identifier: Apache-2.0
/**
 * createBuiltinLoader loads and attaches the XDP programs in this process, and remembers what drivers refuse: the MTU is too large for
 * the program, or too few queues are free. Such a device is not offered, because the kubelet would give it to the next pod, which
 * would fail too.
 * Usage: `const loader = createBuiltinLoader({ xdp, inTurn }); await loader.prepare({ ...device, uid: 0 });`
 */
import { NetlinkError } from "@switchyard/netlink";
import type { Prepared, XdpDevices } from "../xdp-devices.ts";
import type { DeviceForPod, DeviceLoader } from "./device-loader.ts";

export interface BuiltinLoaderDeps {
  readonly xdp: Pick<XdpDevices, "foreignProgram" | "prepare" | "release">;
  /** Runs after what else changes devices. */
  readonly inTurn: (act: () => Promise<void>) => Promise<void>;
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
