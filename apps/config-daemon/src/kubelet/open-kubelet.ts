// SPDX-License-Identifier: Apache-2.0
/**
 * openKubelet is all that the daemon asks the kubelet of its node. All callers share one reader, because the kubelet limits its calls.
 * gRPC, which costs memory on each node, is loaded with the first question.
 */
import { join } from "node:path";
import type { Kubelet } from "./kubelet.ts";

/** `hostRoot` contains var/lib/kubelet. */
export function openKubelet(hostRoot: string): Kubelet {
  const path = join(hostRoot, "var/lib/kubelet/pod-resources/kubelet.sock");
  let opened: Promise<Kubelet> | undefined;
  const open = (): Promise<Kubelet> => {
    opened ??= import("./read-kubelet.ts").then(({ kubeletAt }) => kubeletAt(path));
    return opened;
  };
  return {
    readAfxdp: async (signal) => (await open()).readAfxdp(signal),
    readHolders: async (signal, options) => (await open()).readHolders(signal, options),
    readOffered: async (signal) => (await open()).readOffered(signal),
  };
}
