// SPDX-License-Identifier: Apache-2.0
/** What the daemon asks the kubelet of its node, and what it answers. open-kubelet.ts asks it. */
import type { Result } from "@switchyard/api";
import type { DeviceHolder, PodName } from "@switchyard/kubelet";

/** Why holders are not known while `isNewKubelet`. */
export const newKubelet = "the kubelet has just started, and may not know all pods yet";

export interface Kubelet {
  readonly readAfxdp: ReadKubeletDevices;
  readonly readHolders: ReadHolders;
  readonly readOffered: ReadOffered;
}

/** Ids of devices of the resources for AF_XDP: PCI addresses, auxiliary devices, or names on the host. */
export interface KubeletDevices {
  /** Devices that pods have. */
  readonly held: ReadonlySet<string>;
  /** Devices for which a device plugin runs, and which are healthy. */
  readonly offered: ReadonlySet<string>;
  /** Names of the pools of which pods have devices. */
  readonly heldPools: ReadonlySet<string>;
}

/** Resolves with the error of the kubelet if it does not answer. Rejects if the signal has aborted. */
export type ReadKubeletDevices = (signal: AbortSignal) => Promise<Result<KubeletDevices, string>>;

/** Which pods have which devices. */
export interface HoldersAnswer {
  /** By the id of the device, which is the PCI address of a VF. The name of a pod is "" if it is not known. */
  readonly byId: ReadonlyMap<string, readonly DeviceHolder[]>;
  /** Whether the kubelet started so recently that it may not know all pods yet. */
  readonly isNewKubelet: boolean;
  /** Reports whether the pod is one of the node; absent where no kubelet says it. */
  readonly isListed?: (pod: PodName) => boolean;
  /** Differs between two kubelets of a node, one of which has started after the other; absent without a kubelet. */
  readonly kubelet?: string;
}

/** As ReadKubeletDevices. For `isFresh`, the kubelet is asked after the call. */
export type ReadHolders = (
  signal: AbortSignal,
  options?: { readonly isFresh?: boolean },
) => Promise<Result<HoldersAnswer, string>>;

/** Returns the ids of the healthy devices that device plugins offer now, of all resources. As ReadKubeletDevices. */
export type ReadOffered = (signal: AbortSignal) => Promise<Result<ReadonlySet<string>, string>>;
