// SPDX-License-Identifier: Apache-2.0
/** createDeviceUsers finds out which devices pods have, or may be about to get. */
import { mayLackPods, type PodDevices, type PodResources } from "@switchyard/kubelet";
import type { Logger } from "@switchyard/service";
import { devicesInUse, heldDevices } from "./kubelet/read-pod-devices.ts";
import { hasDevice, type DeviceId } from "./pools/device.ts";
import { resourceOf, type NodePool } from "./pools/node-pools.ts";

export interface DeviceUsersDeps {
  readonly podResources: PodResources;
  /** A device counts as used for this time after its allocation. */
  readonly settlingMs: number;
  readonly log: Logger;
}

export interface DeviceUsers {
  /** Returns undefined, which is not "no pods", if the kubelet does not answer, or has just started. */
  readPods(signal: AbortSignal): Promise<readonly PodDevices[] | undefined>;
  /** The kubelet has asked for the device. It lists it as that of a pod only after it has the answer to its call. */
  allocated(name: string): void;
  /** Reports whether a pod has the device, or may be getting it. `pods` is undefined if the kubelet did not answer. */
  mayHaveDevice(pods: readonly PodDevices[] | undefined, device: DeviceId, pool: Pick<NodePool, "name">): boolean;
  /** As mayHaveDevice, by the resource of any pool. */
  mayBeUsed(pods: readonly PodDevices[] | undefined, device: DeviceId): boolean;
}

export function createDeviceUsers({ podResources, settlingMs, log }: DeviceUsersDeps): DeviceUsers {
  const allocatedAtMs = new Map<string, number>();
  const isNew = (name: string): boolean => performance.now() - (allocatedAtMs.get(name) ?? -Infinity) < settlingMs;
  return {
    async readPods(signal) {
      try {
        const list = await podResources.listPods(signal, { isFresh: true });
        if (!mayLackPods(list)) return list.pods;
        log.info("the kubelet has just started, and may not know all pods yet");
        return undefined;
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ error }, "devices of pods unknown; retrying");
        return undefined;
      }
    },
    allocated(name) {
      allocatedAtMs.set(name, performance.now());
    },
    mayHaveDevice(pods, device, pool) {
      return isNew(device.name) || pods === undefined || hasDevice(heldDevices(pods, resourceOf(pool)), device);
    },
    mayBeUsed: (pods, device) => isNew(device.name) || pods === undefined || hasDevice(devicesInUse(pods), device),
  };
}
