// SPDX-License-Identifier: Apache-2.0
/**
 * Which pods must leave a node before the daemon may act (sriov-operator.md G). Pure.
 * Usage: `const { leaving, staying } = selectPods(pods.list(), "Drain_Required")`.
 */
import type { DrainNeed } from "../drain-facts.ts";
import type { PodFacts } from "./pod-facts.ts";

export interface PodSelection {
  /** The drain is complete when there are none of them, those that are terminating included. */
  readonly leaving: readonly PodFacts[];
  /** Hold VFs that they are about to lose, and cannot be kept away. A reboot starts them anew, so then there are none. */
  readonly staying: readonly PodFacts[];
}

/**
 * Before a reboot all pods leave, but those of DaemonSets and of the kubelet. Otherwise those that hold VFs leave, of
 * DaemonSets too: a VF that goes while it is in use can hold up the whole node. Their DaemonSet is kept from making them
 * anew (taints.draining), unless they tolerate that.
 */
export function selectPods(pods: readonly PodFacts[], needed: DrainNeed): PodSelection {
  const running = pods.filter(({ isFinished }) => !isFinished);
  if (needed === "Reboot_Required") return { leaving: running.filter(({ kind }) => kind === "other"), staying: [] };
  const holders = running.filter(({ holdsVfs }) => holdsVfs);
  return {
    leaving: holders.filter((pod) => !staysAnyway(pod)),
    staying: holders.filter(staysAnyway),
  };
}

function staysAnyway({ kind, toleratesDrain }: PodFacts): boolean {
  return kind === "mirror" || (kind === "daemon-set" && toleratesDrain);
}
