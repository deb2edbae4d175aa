// SPDX-License-Identifier: Apache-2.0
/**
 * selectPods selects the pods that must leave a node before the daemon may change it (sriov-operator.md G). Pure.
 * Usage: `const { leaving, staying } = selectPods(pods, "Drain_Required")`.
 */
import { drainRequests, type DrainNeed } from "@switchyard/api";
import type { DrainedPod } from "./drained-pod.ts";

export interface PodSelection {
  /** Pods that must leave, terminating ones included. The drain is complete when there are none. */
  readonly leaving: readonly DrainedPod[];
  /** Pods that cannot be kept off the node and may lose their VFs. Empty before a reboot, which restarts all pods. */
  readonly staying: readonly DrainedPod[];
}

/**
 * Before a reboot, all pods leave except static pods and pods of DaemonSets. Otherwise the pods that use VFs leave,
 * also those of DaemonSets: removing a VF in use can block the whole node. taints.draining stops the DaemonSet from
 * recreating them, unless they tolerate it.
 */
export function selectPods(pods: readonly DrainedPod[], needed: DrainNeed): PodSelection {
  const running = pods.filter(({ isFinished }) => !isFinished);
  if (needed === drainRequests.reboot) return { leaving: running.filter(({ kind }) => kind === "other"), staying: [] };
  const holders = running.filter(({ holdsVfs }) => holdsVfs);
  return {
    leaving: holders.filter((pod) => !cannotLeave(pod)),
    staying: holders.filter(cannotLeave),
  };
}

function cannotLeave({ kind, toleratesDrain }: DrainedPod): boolean {
  return kind === "mirror" || (kind === "daemon-set" && toleratesDrain);
}
