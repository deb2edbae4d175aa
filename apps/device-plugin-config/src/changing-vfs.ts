// SPDX-License-Identifier: Apache-2.0
/**
 * changingVfs returns the VFs that the plan of the config daemon creates again or binds to another driver. It is a pure
 * function.
 */
import { conditionTypes, nodeStateReasons, type SriovNetworkNodeState } from "@switchyard/api";
import { changedVfs, ownedInStatus, plan } from "@switchyard/plan";
import { addVfs, type VfSet } from "@switchyard/policy";

/**
 * A step that does not change the device itself, such as a new MTU, does not count, even if it interrupts the link. A
 * restart of the plugin removes all VFs of the node from the kubelet for seconds.
 */
export function changingVfs({ spec = {}, status = {} }: SriovNetworkNodeState): VfSet {
  const changing = new Map<string, ReadonlySet<number> | "all">();
  for (const step of plan(spec, status, ownedInStatus(status)).steps) {
    const vfs = changedVfs(step);
    if (vfs !== undefined) addVfs(changing, vfs.pciAddress, vfs.vfId === "all" ? "all" : [vfs.vfId]);
  }
  return changing;
}

/**
 * isDaemonBusy tells whether the config daemon is about to change VFs, so that a plugin that starts now would soon restart.
 * It is a pure function.
 * A daemon that failed and retries, or that waits for the drain of its node, is not busy: this can take hours, and the VFs of
 * other PFs must not wait for it.
 */
export function isDaemonBusy(state: SriovNetworkNodeState): boolean {
  if (changingVfs(state).size === 0) return false;
  const { metadata, status = {} } = state;
  if (status.observedGeneration !== metadata.generation) return true;
  const progressing = status.conditions?.find(({ type }) => type === conditionTypes.progressing);
  return status.syncStatus !== "Failed" && progressing?.reason !== nodeStateReasons.waitingForDrain;
}
