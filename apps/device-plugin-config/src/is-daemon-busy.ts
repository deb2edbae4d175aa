// SPDX-License-Identifier: Apache-2.0
import { conditionTypes, nodeStateReasons, type SriovNetworkNodeState } from "@switchyard/api";
import { changingVfs } from "@switchyard/plan";

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
