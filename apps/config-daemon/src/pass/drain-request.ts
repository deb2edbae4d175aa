// SPDX-License-Identifier: Apache-2.0
/**
 * Implements the daemon's side of upstream's drain protocol (sriov-operator.md G). The daemon writes the drain that it needs
 * to annotations of its node state and its Node: the SriovNetworkNodeState or, on a node without one, the
 * AfxdpNetworkNodeState. It may change the node once the operator, or an external drainer, answers
 * DrainComplete.
 * Usage: `if (!isDrainedFor(needed, state)) await requestDrain(nextRequest(needed, state), { type, ...state }, transport, signal);`
 */
import {
  annotations,
  nodes,
  sriovNetworkNodeStates,
  type DrainNeed,
  type DrainRequest,
  type ObjectMeta,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { patchMetadata, type ResourceType, type Transport } from "@switchyard/kube";

/** The annotations of a node state. */
export interface Handshake {
  readonly metadata: ObjectMeta;
}

/** The node state that requests drains of its node. */
export interface DrainCarrier extends Handshake {
  readonly type: ResourceType;
}

/** Returns the present request; "Idle" if the annotation is absent. */
export function requestOf(state: Handshake): string {
  return state.metadata.annotations?.[annotations.desiredState] ?? "Idle";
}

/** Reports whether the node is drained for `needed`. The answer DrainComplete counts only if the request asked for this drain. */
export function isDrainedFor(needed: DrainNeed, state: Handshake): boolean {
  const request = requestOf(state);
  return answerOf(state) === "DrainComplete" && (request === needed || request === "Reboot_Required");
}

/**
 * Returns the next request on the way to the drain `needed`. The annotations do not show which request an answer belongs
 * to. Therefore the daemon waits until the answer is Idle before it sends another request: after a drain that is complete,
 * and before a reboot if the previous request was a smaller drain, as upstream does. The change of the answer starts the
 * next pass.
 */
export function nextRequest(needed: DrainNeed, state: Handshake): DrainRequest {
  if (answerOf(state) === "Idle") return needed;
  const request = requestOf(state);
  return request === needed || request === "Reboot_Required" ? request : "Idle";
}

/**
 * Writes the request if it differs. The node state decides whether a drain is requested: it is written first when a drain is
 * requested and last when a request is withdrawn. A daemon that is killed between the two writes repeats them at the next
 * start. Rejects with KubeError.
 */
export async function requestDrain(
  request: DrainRequest,
  state: DrainCarrier,
  transport: Transport,
  signal: AbortSignal,
): Promise<void> {
  const isWritten = requestOf(state) === request;
  if (isWritten && request === "Idle") return;
  const onNode = () =>
    patchMetadata({
      transport,
      type: nodes,
      object: { metadata: { name: state.metadata.name } },
      annotations: { [annotations.nodeState]: request },
      signal,
    });
  const onState = () => requestOnState(request, state, transport, signal);
  if (request === "Idle") {
    await onNode();
    await onState();
    return;
  }
  if (!isWritten) await onState();
  await onNode(); // Costs one request per pass while the daemon waits. It writes nothing if the annotation is the same.
}

/** Writes the request to the node state only. Rejects with KubeError. */
export async function requestOnState(
  request: DrainRequest,
  { type, metadata }: DrainCarrier,
  transport: Transport,
  signal: AbortSignal,
): Promise<void> {
  const changes = { [annotations.desiredState]: request };
  await patchMetadata({ transport, type, object: { metadata }, annotations: changes, signal });
}

/**
 * Writes to the NodeState who drains the node: the operator or an external drainer. It changes nothing during a drain,
 * which must be ended by the drainer that started it. Rejects with KubeError.
 */
export async function setDrainer(
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

function answerOf(state: Handshake): string {
  return state.metadata.annotations?.[annotations.currentState] ?? "Idle";
}
