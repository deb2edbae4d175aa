// SPDX-License-Identifier: Apache-2.0
/**
 * Whether the node's daemon is about to change VFs by itself, so that a plugin that starts now would soon start anew. Pure.
 * Usage: `if (!isAtWork(state)) …`.
 */
import { conditionTypes, nodeStateReasons, type SriovNetworkNodeState } from "@switchyard/api";
import { remadeVfs } from "./changing-vfs.ts";

/**
 * Not at work is a daemon that failed, though it tries again, and one that waits for the drain of its node: either may
 * take hours, and other PFs shall not wait for it.
 */
export function isAtWork(state: SriovNetworkNodeState): boolean {
  if (remadeVfs(state).size === 0) return false;
  const { metadata, status = {} } = state;
  if (status.observedGeneration !== metadata.generation) return true;
  const progressing = status.conditions?.find(({ type }) => type === conditionTypes.progressing);
  return status.syncStatus !== "Failed" && progressing?.reason !== nodeStateReasons.waitingForDrain;
}
