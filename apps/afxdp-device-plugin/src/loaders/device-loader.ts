// SPDX-License-Identifier: Apache-2.0
/**
 * A DeviceLoader says whether a device has the XDP program that it needs, and gets the XSK map of the program for a pod. The
 * program is loaded by this process (builtin-loader.ts) or by bpfman (bpfman-loader.ts).
 */
import type { PoolDevice } from "../pools/node-pools.ts";

/** A device that a pod is about to get. */
export interface DeviceForPod extends PoolDevice {
  /** Owner of the pinned map. */
  readonly uid: number;
}

/** How the program was attached, and the driver's answer if it refused a faster way. */
export interface PreparedForPod {
  readonly mode: string;
  readonly error?: unknown;
}

export interface DeviceLoader {
  /** Returns why the device, which is in the network namespace of the node, cannot be given to pods. */
  problem(device: DeviceForPod): Promise<string | undefined>;
  /** Pins the map of the device's program. Rejects if the device cannot be given to a pod. */
  prepare(device: DeviceForPod): Promise<PreparedForPod>;
}
