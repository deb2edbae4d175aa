// SPDX-License-Identifier: Apache-2.0
/**
 * changingVfs returns the VFs that the plan of the config daemon creates again or binds to another driver. It is a pure
 * function.
 */
import { conditionTypes, nodeStateReasons, type SriovNetworkNodeState } from "@switchyard/api";
import { changedVfs, ownedInStatus, plan } from "@switchyard/plan";

/** For the PCI address of each PF, the indexes of its changing VFs, or "all". */
export type ChangingVfs = ReadonlyMap<string, ReadonlySet<number> | "all">;

/**
 * A step that does not change the device itself, such as a new MTU, does not count, even if it interrupts the link. A
 * restart of the plugin removes all VFs of the node from the kubelet for seconds.
 */
export function changingVfs({ spec = {}, status = {} }: SriovNetworkNodeState): ChangingVfs {
  const changing = new Map<string, Set<number> | "all">();
  for (const step of plan(spec, status, ownedInStatus(status)).steps) {
    const vfs = changedVfs(step);
    if (vfs === undefined) continue;
    const before = changing.get(vfs.pciAddress);
    const isAll = vfs.vfId === "all" || before === "all";
    changing.set(vfs.pciAddress, isAll ? "all" : new Set([...(before ?? []), vfs.vfId]));
  }
  return changing;
}

export function isChanging(changing: ChangingVfs, pciAddress: string, vfId: number): boolean {
  const vfs = changing.get(pciAddress);
  return vfs === "all" || vfs?.has(vfId) === true;
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
