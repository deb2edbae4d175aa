// SPDX-License-Identifier: Apache-2.0
/**
 * openKubelet is all that the daemon asks the kubelet of its node. All callers share one reader, because the kubelet limits its calls.
 * gRPC, which costs memory on each node, is loaded with the first question.
 */
import { join } from "node:path";
import type { PodName } from "@switchyard/kubelet";
import { findKubeletDirectory } from "./kubelet-directory.ts";
import type { Kubelet } from "./kubelet.ts";

export interface KubeletOptions {
  /** Directory of the kubelet below the host's root; by default it is found from the kubelet's arguments at the first question. */
  readonly directory?: string | undefined;
  /** The pod of this process. While the kubelet does not list it, it does not know its pods. */
  readonly ownPod?: PodName | undefined;
}

export function openKubelet(hostRoot: string, options: KubeletOptions = {}): Kubelet {
  let opened: Promise<Kubelet> | undefined;
  const open = (): Promise<Kubelet> => (opened ??= openAt(hostRoot, options));
  return {
    readAfxdp: async (signal) => (await open()).readAfxdp(signal),
    readHolders: async (signal, options) => (await open()).readHolders(signal, options),
    readOffered: async (signal) => (await open()).readOffered(signal),
  };
}

async function openAt(hostRoot: string, { directory, ownPod }: KubeletOptions): Promise<Kubelet> {
  const { kubeletAt } = await import("./read-kubelet.ts");
  const kubeletDirectory = join(hostRoot, directory ?? (await findKubeletDirectory(hostRoot)));
  return kubeletAt({ kubeletDirectory, logDirectory: join(hostRoot, "var/log/pods"), ownPod });
}
