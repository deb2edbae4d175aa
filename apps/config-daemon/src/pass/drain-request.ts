// SPDX-License-Identifier: Apache-2.0
/**
 * Implements the daemon's side of upstream's drain protocol (sriov-operator.md G). The daemon writes the drain that it needs
 * to annotations of its node state and its Node: the SriovNetworkNodeState or, on a node without one, the
 * AfxdpNetworkNodeState. It may change the node once the operator, or an external drainer, answers
 * DrainComplete.
 */
import {
  annotations,
  daemonManager,
  nodes,
  sriovNetworkNodeStates,
  type DrainNeed,
  type DrainRequest,
  type ObjectMeta,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { coversVfs, drainedVfs, formatVfSet, type VfSet } from "@switchyard/policy";
import {
  isKubeObject,
  metadataOnly,
  objectPath,
  ownsAnnotation,
  patchMetadata,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";

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

/**
 * Reports whether the node is drained for `needed`. The answer DrainComplete counts only if the request asked for this drain. `vfs` are
 * the VFs whose pods must leave; undefined for all VFs of the node.
 */
export function isDrainedFor(needed: DrainNeed, state: Handshake, vfs?: VfSet): boolean {
  return answerOf(state) === "DrainComplete" && asksFor(needed, state, vfs);
}

/** Reports whether pods that have these VFs are being evicted. */
export function isDrainBegun(state: Handshake, vfs: VfSet): boolean {
  return answerOf(state) === "Draining" && asksFor("Drain_Required", state, vfs) && drainedVfs(state) !== undefined;
}

/** Reports whether the request is about `needed` and at least these VFs. */
function asksFor(needed: DrainNeed, state: Handshake, vfs: VfSet | undefined): boolean {
  const request = requestOf(state);
  if (request === "Reboot_Required") return true;
  if (request !== needed) return false;
  const asked = drainedVfs(state);
  return asked === undefined || (vfs !== undefined && coversVfs(asked, vfs));
}

/**
 * Returns the next request on the way to the drain `needed`. The annotations do not show which request an answer belongs
 * to. Therefore the daemon waits until the answer is Idle before it sends another request. This happens after a drain
 * that is complete, and before a reboot if the previous request was a smaller drain, as upstream does. The same is true of a request
 * that was about other VFs, also while it waits: the VFs must be withheld before they are requested. The change of the annotations
 * starts the next pass.
 */
export function nextRequest(needed: DrainNeed, state: Handshake, vfs?: VfSet): DrainRequest {
  const request = requestOf(state);
  const isOfOthers = needed === "Drain_Required" && request === needed && !asksFor(needed, state, vfs);
  if (answerOf(state) === "Idle" && !isOfOthers) return needed;
  if (!asksFor(needed, state, vfs)) return "Idle";
  return request === "Reboot_Required" ? request : needed;
}

/**
 * Writes the request to both objects, unless neither can have another one. The node state decides whether a drain is
 * requested: it is written first when a drain is requested and last when a request is withdrawn. A daemon that is killed
 * between the two writes repeats them at the next start.
 *
 * An answer to a request that the node state does not have is an answer to the Node's annotation: the node state was
 * deleted and created again during the drain. Then "Idle" is written too, because otherwise the drain never ends, and the
 * daemon waits for its end before it requests the drain again. Rejects with KubeError.
 */
export async function requestDrain(
  request: DrainRequest,
  state: DrainCarrier,
  transport: Transport,
  signal: AbortSignal,
  vfs?: VfSet,
): Promise<void> {
  const isWritten = requestOf(state) === request;
  if (isWritten && request === "Idle" && answerOf(state) === "Idle") return;
  if (request === "Idle") {
    await writeOnNode("Idle", state, transport, signal);
    if (!isWritten) await requestOnState("Idle", state, transport, signal);
    return;
  }
  if (!isWritten) await requestOnState(request, state, transport, signal, vfs);
  // VFs that no pod had may be changed already, and are offered again. The operator completes the drain for the others.
  else if (vfs !== undefined && drainedVfs(state) !== undefined) await announceVfs(vfs, state, transport, signal);
  // Costs one request per pass while the daemon waits. It writes nothing if the annotation is the same.
  await writeOnNode(request, state, transport, signal);
}

/**
 * Withdraws the request of a node that needs no drain, also one that only the Node still has, if the daemon wrote it.
 * The request of a script that annotates the Node stays. Returns whether there was a request. Rejects with KubeError.
 */
export async function withdrawRequest(
  state: DrainCarrier,
  transport: Transport,
  signal: AbortSignal,
): Promise<boolean> {
  if (requestOf(state) === "Idle" && !(await isOwnRequestOnNode(state, transport, signal))) {
    await announceVfs(undefined, state, transport, signal); // VFs that were announced, but not requested
    return false;
  }
  await requestDrain("Idle", state, transport, signal);
  return true;
}

/** Costs one request per pass while the operator answers a request that the node state does not have. */
async function isOwnRequestOnNode(state: DrainCarrier, transport: Transport, signal: AbortSignal): Promise<boolean> {
  if (answerOf(state) === "Idle") return false;
  const path = objectPath(nodes, { name: state.metadata.name });
  const node = await transport.request({ method: "GET", path, accept: metadataOnly, signal });
  if (!isKubeObject(node)) return false;
  const { annotations: noted, managedFields = [] } = node.metadata;
  const own = managedFields.filter(({ manager }) => manager === daemonManager);
  return (
    (noted?.[annotations.nodeState] ?? "Idle") !== "Idle" &&
    own.some((entry) => ownsAnnotation(entry, annotations.nodeState))
  );
}

async function writeOnNode(
  request: DrainRequest,
  { metadata: { name } }: DrainCarrier,
  transport: Transport,
  signal: AbortSignal,
): Promise<void> {
  const changes = { [annotations.nodeState]: request };
  const node = { type: nodes, object: { metadata: { name } } };
  await patchMetadata({ ...node, transport, annotations: changes, manager: daemonManager, signal });
}

/**
 * Writes the request to the node state only, with the VFs that it is about; without `vfs`, it is about all VFs of the node. Rejects with
 * KubeError.
 */
export async function requestOnState(
  request: DrainRequest,
  { type, metadata }: DrainCarrier,
  transport: Transport,
  signal: AbortSignal,
  vfs?: VfSet,
): Promise<void> {
  const changes = { [annotations.desiredState]: request, [annotations.drainVfs]: vfs ? formatVfSet(vfs) : null };
  // The cache may not show VFs that were announced a moment ago: they are removed whatever it shows.
  const notes = { ...metadata.annotations, [annotations.drainVfs]: metadata.annotations?.[annotations.drainVfs] ?? "" };
  await patchMetadata({
    transport,
    type,
    object: { metadata: { ...metadata, annotations: notes } },
    annotations: changes,
    signal,
  });
}

/** Writes the VFs that a request will be about, so that nobody offers them any more. Undefined withdraws them. Rejects with KubeError. */
export async function announceVfs(
  vfs: VfSet | undefined,
  { type, metadata }: DrainCarrier,
  transport: Transport,
  signal: AbortSignal,
): Promise<void> {
  const changes = { [annotations.drainVfs]: vfs ? formatVfSet(vfs) : null };
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
