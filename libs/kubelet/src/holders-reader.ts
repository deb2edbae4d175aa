// SPDX-License-Identifier: Apache-2.0
/**
 * createHoldersReader asks the kubelet which pods have which devices, and says whether the kubelet knows all of them.
 * Usage: `const { byId, isNewKubelet } = await createHoldersReader({ podResources }).read(signal);`
 */
import type { PodList, PodResources, ReadOptions } from "./pod-resources.ts";
import type { HoldersById, PodUids } from "./pod-uids.ts";
import { holdersIn } from "./read-devices.ts";

export interface HoldersReaderOptions {
  readonly podResources: Pick<PodResources, "listPods">;
  /** The pod of this process; undefined if it is not known, or outside of a pod. */
  readonly ownPod?: PodName | undefined;
  /** Without it, holders have no uids. */
  readonly podUids?: PodUids;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** What the kubelet knows about the devices of pods. */
export interface KnownHolders {
  readonly byId: HoldersById;
  /** Reports whether the kubelet lists the pod, with devices or without. */
  readonly isListed: (pod: PodName) => boolean;
  /** Differs between two kubelets of a node, one of which has started after the other. */
  readonly kubelet: string;
  /** Whether a device without a pod can be that of a pod nevertheless (mayLackPods()). */
  readonly isNewKubelet: boolean;
}

export interface HoldersReader {
  /** Rejects as PodResources.listPods(). */
  read(signal: AbortSignal, options?: ReadOptions): Promise<KnownHolders>;
}

/** Time in which the kubelet takes over the pods that it has received: the own pod can be one of the first. */
const takesOverMs = 10_000;

/** Time in which a kubelet has received its pods, for a process that does not see by its own pod whether it has. */
const startsWithinMs = 30_000;

export function createHoldersReader(options: HoldersReaderOptions): HoldersReader {
  const { podResources, ownPod, podUids } = options;
  return {
    async read(signal, readOptions) {
      const list = await podResources.listPods(signal, readOptions);
      const byId = holdersIn(list.pods);
      const pods = new Set(list.pods.map(podKey));
      return {
        byId: podUids === undefined ? byId : await podUids.addTo(byId),
        isListed: (pod) => pods.has(podKey(pod)),
        kubelet: String(list.kubeletStartedMs),
        isNewKubelet: mayLackPods(list, ownPod),
      };
    },
  };
}

/**
 * Reports whether the kubelet may not have received all pods from the API server yet. It serves pod resources before, and lists no pods
 * until then (pkg/kubelet, 1.36), which can last as long as the API server is away. Pure.
 */
export function mayLackPods(
  { pods, kubeletAgeMs = 0 }: Pick<PodList, "pods" | "kubeletAgeMs">,
  ownPod?: PodName,
): boolean {
  if (ownPod === undefined) return kubeletAgeMs < startsWithinMs;
  return kubeletAgeMs < takesOverMs || !pods.some((pod) => podKey(pod) === podKey(ownPod));
}

/** Identifies a pod among the pods of a node at one moment. */
function podKey({ namespace, name }: PodName): string {
  return `${namespace}/${name}`;
}
