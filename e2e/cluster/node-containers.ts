// SPDX-License-Identifier: Apache-2.0
/**
 * killContainer kills the processes of a container from outside, as the kernel does when memory runs out, and waits until the
 * kubelet has started it again.
 * Usage: `await killContainer(cluster, { namespace, label: "app=sriov-network-config-daemon", container: "sriov-network-config-daemon" })`.
 */
import { isRecord } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";
import type { KubeCluster } from "./kube-cluster.ts";

export interface ContainerOfPods {
  readonly namespace: string;
  /** Label selector of the pods, of which one runs. */
  readonly label: string;
  readonly container: string;
}

/** Rejects if there is no such container, or if it does not run again within five minutes. */
export async function killContainer(cluster: KubeCluster, which: ContainerOfPods): Promise<void> {
  const before = await containerOf(cluster, which);
  await cluster.inGuest(`/node/bin/ctr -n k8s.io tasks kill -s SIGKILL ${before.id}`);
  const isReplaced = async (): Promise<boolean> => {
    const now = await containerOf(cluster, which);
    return now.id !== before.id && now.isReady;
  };
  await eventually(`container ${which.container} runs again`, isReplaced, { withinMs: 300_000, everyMs: 500 });
}

async function containerOf(cluster: KubeCluster, { namespace, label, container }: ContainerOfPods) {
  const pods: unknown = JSON.parse(await cluster.kubectl(["get", "pods", "-n", namespace, "-l", label, "-o", "json"]));
  const [pod] = isRecord(pods) && Array.isArray(pods["items"]) ? (pods["items"] as unknown[]) : [];
  const status = isRecord(pod) && isRecord(pod["status"]) ? pod["status"] : {};
  const all = (status["containerStatuses"] ?? []) as readonly { name: string; containerID: string; ready: boolean }[];
  const found = all.find(({ name }) => name === container);
  if (found === undefined)
    throw new Error(`no pod with ${label} in ${namespace} has a container ${container} with a status`);
  return { id: found.containerID.replace("containerd://", ""), isReady: found.ready };
}
