// SPDX-License-Identifier: Apache-2.0
/** kubeletAt reads from the kubelet's API for pod resources. It loads gRPC, so open-kubelet.ts loads this file when it is needed. */
import { afxdpResourcePrefix, err, ok, type Result } from "@switchyard/api";
import {
  createPodResources,
  kubeletError,
  readDeviceHolders,
  readHeldDevices,
  readOfferedDevices,
  type DevicesByResource,
} from "@switchyard/kubelet";
import { isErrno } from "@switchyard/service";
import { stat } from "node:fs/promises";
import type { Kubelet } from "./kubelet.ts";

/** `path` is that of the socket. */
export function kubeletAt(path: string): Kubelet {
  const podResources = createPodResources({ path });
  return {
    readAfxdp: (signal) =>
      answerOf(signal, async () => {
        const offered = await readOfferedDevices(afxdpResourcePrefix, podResources, signal);
        // Afterwards: a device that the kubelet allocates in between is in the list of the pods.
        const held = await readHeldDevices(afxdpResourcePrefix, podResources, signal, { isFresh: true });
        const heldPools = new Set([...held.keys()].map((resource) => resource.slice(afxdpResourcePrefix.length + 1)));
        return { held: idsOf(held), offered: idsOf(offered), heldPools };
      }),
    readHolders: (signal, options) =>
      answerOf(signal, async () => {
        const byId = await readDeviceHolders(podResources, signal, options);
        return { byId, isNewKubelet: (await ageMsOf(path)) < startsWithinMs };
      }),
    readOffered: (signal) =>
      answerOf(signal, async () => {
        const { devices } = await podResources.listOffered(signal, { isFresh: true });
        return new Set(devices.flatMap(({ ids }) => ids));
      }),
  };
}

/**
 * A kubelet serves pod resources before it has received the pods of its node from the API server, and lists none of them until then
 * (pkg/kubelet, 1.36).
 */
const startsWithinMs = 30_000;

/** Time since the kubelet has created its socket. */
async function ageMsOf(path: string): Promise<number> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch (error) {
    if (isErrno(error)) return 0; // the kubelet has just ended
    throw error;
  }
}

async function answerOf<Value>(signal: AbortSignal, read: () => Promise<Value>): Promise<Result<Value, string>> {
  try {
    return ok(await read());
  } catch (error) {
    if (signal.aborted) throw error;
    return err(kubeletError(error));
  }
}

function idsOf(devices: DevicesByResource): ReadonlySet<string> {
  return new Set([...devices.values()].flatMap((ids) => [...ids]));
}
