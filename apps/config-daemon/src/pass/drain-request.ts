// SPDX-License-Identifier: Apache-2.0
/**
 * The daemon's side of upstream's drain handshake (sriov-operator.md G): it writes what it needs on its NodeState and its
 * Node, and may act once the operator (or an external drainer) answers DrainComplete.
 * Usage: `if (!isDrainedFor(needed, state)) await requestDrain(nextRequest(needed, state), state, transport, signal);`
 */
import {
  annotations,
  nodes,
  sriovNetworkNodeStates,
  type DrainRequest,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { patchMetadata, type Transport } from "@switchyard/kube";

/** A drain: of the pods that hold VFs, or of all pods, before a reboot. */
export type DrainNeed = Exclude<DrainRequest, "Idle">;

/** What is asked for now; absent is Idle. */
export function requestOf(state: SriovNetworkNodeState): string {
  return state.metadata.annotations?.[annotations.desiredState] ?? "Idle";
}

/** Whether the node is drained for us. An answer counts only together with a request that it can be the answer to. */
export function isDrainedFor(needed: DrainNeed, state: SriovNetworkNodeState): boolean {
  const request = requestOf(state);
  return answerOf(state) === "DrainComplete" && (request === needed || request === "Reboot_Required");
}

/**
 * What to ask for on the way to a drain. The annotations cannot tell which request an answer belongs to. So each row of
 * answers is let come to its end, Idle, before another request: after a drain that is over, and before a reboot where
 * less was asked for, as upstream does. The answer's change brings us back.
 */
export function nextRequest(needed: DrainNeed, state: SriovNetworkNodeState): DrainRequest {
  if (answerOf(state) === "Idle") return needed;
  const request = requestOf(state);
  return request === needed || request === "Reboot_Required" ? request : "Idle";
}

/**
 * Writes the request where it does not stand already. The NodeState has the last word on whether anything is asked: it is
 * written first when asking and last when taking back, so who is killed between the two finds there what to write again.
 * Rejects with KubeError.
 */
export async function requestDrain(
  request: DrainRequest,
  state: SriovNetworkNodeState,
  transport: Transport,
  signal: AbortSignal,
): Promise<void> {
  const isThere = requestOf(state) === request;
  if (isThere && request === "Idle") return;
  const onNode = () =>
    patchMetadata({
      transport,
      type: nodes,
      object: { metadata: { name: state.metadata.name } },
      annotations: { [annotations.nodeState]: request },
      signal,
    });
  const onState = () =>
    patchMetadata({
      transport,
      type: sriovNetworkNodeStates,
      object: { metadata: state.metadata },
      annotations: { [annotations.desiredState]: request },
      signal,
    });
  if (request === "Idle") {
    await onNode();
    await onState();
    return;
  }
  if (!isThere) await onState();
  await onNode(); // Costs a request while we wait, and writes nothing where it stands.
}

/**
 * Says on the NodeState who drains: somebody else, or the operator. Never in the middle of a drain, which whoever began
 * it must end. Rejects with KubeError.
 */
export async function nameDrainer(
  isExternal: boolean,
  state: SriovNetworkNodeState,
  transport: Transport,
  signal: AbortSignal,
): Promise<void> {
  if (requestOf(state) !== "Idle" || answerOf(state) !== "Idle") return;
  const drainer = { [annotations.useExternalDrainer]: isExternal ? "true" : null };
  await patchMetadata({
    transport,
    type: sriovNetworkNodeStates,
    object: { metadata: state.metadata },
    annotations: drainer,
    signal,
  });
}

function answerOf(state: SriovNetworkNodeState): string {
  return state.metadata.annotations?.[annotations.currentState] ?? "Idle";
}
