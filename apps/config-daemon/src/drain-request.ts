// SPDX-License-Identifier: Apache-2.0
/**
 * The daemon's side of upstream's drain handshake (sriov-operator.md G): it writes what it needs on its Node and its
 * NodeState, and may act once the operator (or an external drainer) answers DrainComplete.
 * Usage: `if (!mayDisturb(state)) await drain.request("Drain_Required", state, signal);`
 */
import { annotations, type DrainRequest, type SriovNetworkNodeState } from "@switchyard/api";

/** What is asked for now; absent is Idle. */
export function requestOf(state: SriovNetworkNodeState): string {
  return state.metadata.annotations?.[annotations.desiredState] ?? "Idle";
}

/** Whether the node is drained for us. An answer counts only together with our request: it may be of an earlier one. */
export function isDrained(state: SriovNetworkNodeState): boolean {
  const answer = state.metadata.annotations?.[annotations.currentState] ?? "Idle";
  return answer === "DrainComplete" && requestOf(state) !== "Idle";
}

/** Writes both annotations; sends nothing where they stand already. */
export type RequestDrain = (request: DrainRequest, signal: AbortSignal) => Promise<void>;
