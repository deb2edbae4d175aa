// SPDX-License-Identifier: Apache-2.0
/**
 * openKubelet is all that the daemon asks the kubelet of its node. All callers share one reader, because the kubelet limits its calls.
 * gRPC, which costs memory on each node, is loaded with the first question.
 */
import { join } from "node:path";
import { findKubeletDirectory } from "./kubelet-directory.ts";
import type { Kubelet } from "./kubelet.ts";

/** `directory` is that of the kubelet below `hostRoot`; by default it is found from the kubelet's arguments at the first question. */
export function openKubelet(hostRoot: string, directory?: string): Kubelet {
  let opened: Promise<Kubelet> | undefined;
  const open = (): Promise<Kubelet> => (opened ??= openAt(hostRoot, directory));
  return {
    readAfxdp: async (signal) => (await open()).readAfxdp(signal),
    readHolders: async (signal, options) => (await open()).readHolders(signal, options),
    readOffered: async (signal) => (await open()).readOffered(signal),
  };
}

async function openAt(hostRoot: string, directory: string | undefined): Promise<Kubelet> {
  const { kubeletAt } = await import("./read-kubelet.ts");
  return kubeletAt(join(hostRoot, directory ?? (await findKubeletDirectory(hostRoot)), "pod-resources/kubelet.sock"));
}
