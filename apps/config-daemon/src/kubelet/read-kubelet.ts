// SPDX-License-Identifier: Apache-2.0
/** kubeletAt reads from the kubelet's API for pod resources. It loads gRPC, so open-kubelet.ts loads this file when it is needed. */
import { afxdpResourcePrefix, err, ok, type Result } from "@switchyard/api";
import {
  createHoldersReader,
  createPodResources,
  createPodUids,
  kubeletError,
  readOfferedDevices,
  type DevicesByResource,
  type HoldersReaderOptions,
} from "@switchyard/kubelet";
import { join } from "node:path";
import { newKubelet, type Kubelet } from "./kubelet.ts";

export interface KubeletPlace extends Pick<HoldersReaderOptions, "ownPod"> {
  readonly kubeletDirectory: string;
  /** Directory of the logs of pods. */
  readonly logDirectory: string;
}

export function kubeletAt({ kubeletDirectory, logDirectory, ownPod }: KubeletPlace): Kubelet {
  const path = join(kubeletDirectory, "pod-resources/kubelet.sock");
  const podResources = createPodResources({ path });
  const podUids = createPodUids({ kubeletDirectory, logDirectory });
  const holders = createHoldersReader({ podResources, ownPod, podUids });
  return {
    readAfxdp: (signal) =>
      answerOf(signal, async () => {
        const offered = await readOfferedDevices(afxdpResourcePrefix, podResources, signal);
        // Afterwards: a device that the kubelet allocates in between is in the list of the pods.
        const { byId, isNewKubelet } = await holders.read(signal, { isFresh: true });
        if (isNewKubelet) throw new Error(newKubelet);
        const prefix = `${afxdpResourcePrefix}/`;
        const pairs = [...byId].flatMap(([id, pods]) => pods.map(({ resource }) => [id, resource] as const));
        const held = pairs.filter(([, resource]) => resource.startsWith(prefix));
        const heldPools = new Set(held.map(([, resource]) => resource.slice(prefix.length)));
        return { held: new Set(held.map(([id]) => id)), offered: idsOf(offered), heldPools };
      }),
    readHolders: (signal, options) => answerOf(signal, () => holders.read(signal, options)),
    readOffered: (signal) =>
      answerOf(signal, async () => {
        const { devices } = await podResources.listOffered(signal, { isFresh: true });
        return new Set(devices.flatMap(({ ids }) => ids));
      }),
  };
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
