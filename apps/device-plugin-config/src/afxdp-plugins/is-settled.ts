// SPDX-License-Identifier: Apache-2.0
/**
 * isSettled tells whether the config daemon has configured the AF_XDP devices of the node, so that the plugin can start. It is a pure
 * function.
 * Usage: `if (isSettled(state)) …`.
 */
import { conditionTypes, nodeStateReasons, type AfxdpNetworkNodeState } from "@switchyard/api";

/**
 * A daemon that failed and retries, or that waits for the drain of its node, has done what it can: this can take hours, and the devices
 * of other pools must not wait for it.
 */
export function isSettled({ metadata, status = {} }: AfxdpNetworkNodeState): boolean {
  const { interfaces, observedGeneration, syncStatus, conditions = [] } = status;
  if (interfaces === undefined || observedGeneration !== metadata.generation) return false;
  const progressing = conditions.find(({ type }) => type === conditionTypes.progressing);
  const isWaiting = progressing?.reason === nodeStateReasons.waitingForDrain;
  return syncStatus === "Succeeded" || syncStatus === "Failed" || isWaiting;
}
