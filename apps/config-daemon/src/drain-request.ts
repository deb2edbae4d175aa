// SPDX-License-Identifier: Apache-2.0
/**
 * The daemon's side of upstream's drain handshake (sriov-operator.md G): it writes what it needs on its Node and its
 * NodeState, and may act once the operator (or an external drainer) answers DrainComplete.
 * Usage: `if (!isDrained(state)) await requestDrain("Drain_Required", state, transport, signal);`
 */
import {
  annotations,
  nodes,
  sriovNetworkNodeStates,
  type DrainRequest,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { patchMetadata, type Transport } from "@switchyard/kube";

/** What is asked for now; absent is Idle. */
export function requestOf(state: SriovNetworkNodeState): string {
  return state.metadata.annotations?.[annotations.desiredState] ?? "Idle";
}

/** Whether the node is drained for us. An answer counts only together with our request: it may be of an earlier one. */
export function isDrained(state: SriovNetworkNodeState): boolean {
  const answer = state.metadata.annotations?.[annotations.currentState] ?? "Idle";
  return answer === "DrainComplete" && requestOf(state) !== "Idle";
}

/** Writes the request where it does not stand already. Rejects with KubeError. */
export async function requestDrain(
  request: DrainRequest,
  state: SriovNetworkNodeState,
  transport: Transport,
  signal: AbortSignal,
): Promise<void> {
  if (requestOf(state) === request) return;
  // The Node first: who is killed between the two finds the NodeState unchanged and writes both again.
  const node = { metadata: { name: state.metadata.name } };
  await patchMetadata({
    transport,
    type: nodes,
    object: node,
    annotations: { [annotations.nodeState]: request },
    signal,
  });
  const object = { metadata: state.metadata };
  const desired = { [annotations.desiredState]: request };
  await patchMetadata({ transport, type: sriovNetworkNodeStates, object, annotations: desired, signal });
}
