// SPDX-License-Identifier: Apache-2.0
/**
 * createResetHold decides whether a node may lose configuration for want of policies: its VFs for want of
 * SriovNetworkNodePolicies, its AF_XDP devices for want of AfxdpNetworkNodePolicies. Policies also vanish without anybody's
 * wish: their namespace or CustomResourceDefinition is deleted or replaced, and they are restored later or never. So a node
 * keeps its spec while one of both is being deleted, or the definition is missing or not served. It also keeps it for five minutes
 * after one of both was created, if the spec is older. A spec that was merged after that shows that there were policies, whose
 * deletion is a wish. So a new installation does not wait. Pools and networks have the same hold for what they give.
 *
 * It asks the API server only when a spec would lose something, and not the caches: these show the deletion of the policies
 * before that of their definition.
 */
import {
  customResourceDefinitions,
  resetHeldReasons,
  type AfxdpNetworkNodeStateSpec,
  type ResourceType,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import {
  isKubeError,
  isKubeObject,
  metadataOnly,
  objectPath,
  recordedMs,
  type Cache,
  type ObjectMeta,
  type Transport,
} from "@switchyard/kube";
import { deviceKey } from "@switchyard/policy";

/** Why nodes keep their configuration without policies. */
export interface ResetHold {
  readonly reason: (typeof resetHeldReasons)[keyof typeof resetHeldReasons];
  /** A sentence without a period. */
  readonly message: string;
  /** What people call the lost objects; policies by default. */
  readonly objects?: string;
  /** Time until this must be asked again. */
  readonly afterMs: number;
}

/** `writtenAt` is when the spec that would lose something was written (RFC 3339); undefined if that is unknown. */
export type FindResetHold = (writtenAt: string | undefined, signal: AbortSignal) => Promise<ResetHold | undefined>;

export interface ResetHoldDeps {
  readonly transport: Pick<Transport, "request">;
  /** Kind of the objects that can be lost. */
  readonly type: Pick<ResourceType, "plural" | "group">;
  /** Shows whether the API server serves the kind. Absent objects of a kind that it does not serve are unknown. */
  readonly cache: Pick<Cache<unknown>, "served">;
  /** What messages call these objects. */
  readonly lost?: LossWords;
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly nowMs: () => number;
  /** A clock that nobody sets; that of the process by default. */
  readonly elapsedMs?: () => number;
}

/** Words of messages about lost objects. */
export interface LossWords {
  /** The objects: "policies". */
  readonly objects: string;
  /** What happens without them: "nodes without policies are reset". */
  readonly consequence: string;
}

const lostPolicies: LossWords = { objects: "policies", consequence: "nodes without policies are reset" };

/** What a spec gives to a node, for all kinds of node states. */
export interface NodeGrants {
  readonly devices: readonly DeviceGrant[];
  /** Devices that the node resets. */
  readonly unselected: readonly string[];
}

interface DeviceGrant {
  /** PCI address, or the name of a device without one. */
  readonly id: string;
  /** Number of VFs or subfunctions. */
  readonly count: number;
  /** Names of the resources that pods request. */
  readonly resources: readonly string[];
}

/** What a SriovNetworkNodeState gives to its node. */
export function sriovGrants({ interfaces = [], unselected = [] }: SriovNetworkNodeStateSpec): NodeGrants {
  const devices = interfaces.map(({ pciAddress: id, numVfs: count = 0, vfGroups = [] }) => {
    return { id, count, resources: vfGroups.map(({ resourceName = "" }) => resourceName) };
  });
  return { devices, unselected };
}

/** What an AfxdpNetworkNodeState gives to its node. */
export function afxdpGrants({ interfaces = [], unselected = [] }: AfxdpNetworkNodeStateSpec): NodeGrants {
  const devices = interfaces.map((device) => {
    return { id: deviceKey(device), count: device.numSfs ?? 0, resources: [device.poolName] };
  });
  return { devices, unselected };
}

/**
 * Returns undefined if a node that has what `before` gives loses no device, VF, subfunction and resource by `after`. Otherwise
 * returns when what it loses was written, if that is `specWrittenAt`. A device that `before` does not have was configured in an
 * earlier life of the node state, at an unknown time.
 */
export function wereLostTogether(
  { before, specWrittenAt }: { readonly before: NodeGrants; readonly specWrittenAt?: string | undefined },
  after: NodeGrants,
): { readonly writtenAt: string | undefined } | undefined {
  const kept = new Map(after.devices.map((device) => [device.id, device]));
  const known = new Set([...before.unselected, ...before.devices.map(({ id }) => id)]);
  if (after.unselected.some((id) => !known.has(id))) return { writtenAt: undefined };
  return before.devices.some((device) => hasLess(kept.get(device.id), device))
    ? { writtenAt: specWrittenAt }
    : undefined;
}

/**
 * Reports whether a node that has what `before` gives has nothing by `after`. That includes devices that were configured in an earlier
 * life of the node state: after a restore, the configuration can exist before the policies do.
 */
export function losesAll(before: NodeGrants | undefined, after: NodeGrants): boolean {
  if (before === undefined || after.devices.length > 0) return false;
  return before.devices.length > 0 || after.unselected.some((id) => !before.unselected.includes(id));
}

/**
 * Asks the API server once for all nodes that wait, one time after the other. An earlier answer may be from before the deletion
 * of the definition that took the policies of the node. Rejects with KubeError.
 */
export function createResetHold({
  transport,
  type,
  cache,
  lost = lostPolicies,
  namespace,
  nowMs,
  elapsedMs = () => performance.now(),
}: ResetHoldDeps): FindResetHold {
  const definitionName = `${type.plural}.${type.group}`;
  let running: Promise<unknown> | undefined;
  let next: Promise<Places> | undefined;
  /** When this process saw objects first whose times of creation are from a clock that was not set. */
  const firstSeenMs = new Map<string, number>();

  /** Returns how long ago the object was created, as far as that is known. */
  function ageOf({ uid = "", creationTimestamp }: ObjectMeta): number {
    const createdMs = recordedMs(creationTimestamp, nowMs());
    if (createdMs !== undefined) return nowMs() - createdMs;
    const seenMs = firstSeenMs.get(uid) ?? elapsedMs();
    firstSeenMs.set(uid, seenMs);
    return elapsedMs() - seenMs;
  }

  async function ask(signal: AbortSignal): Promise<Places> {
    const [own, definition] = await Promise.all([
      read(transport, objectPath(namespaces, { name: namespace }), signal),
      read(transport, objectPath(customResourceDefinitions, { name: definitionName }), signal),
    ]);
    return { own, definition };
  }

  function places(signal: AbortSignal): Promise<Places> {
    next ??= Promise.resolve(running).then(() => {
      next = undefined;
      const asked = ask(signal);
      running = asked.catch(() => undefined);
      return asked;
    });
    return next;
  }

  return async function findResetHold(writtenAt, signal) {
    const { own, definition } = await places(signal);
    const what = { namespace: `namespace ${namespace}`, definition: `CustomResourceDefinition ${definitionName}` };
    if (isTerminating(own)) {
      return held(resetHeldReasons.namespaceTerminating, `${what.namespace} is being deleted`, lost);
    }
    if (definition === "missing") {
      return held(resetHeldReasons.definitionMissing, `${what.definition} does not exist`, lost);
    }
    if (isTerminating(definition)) {
      return held(resetHeldReasons.definitionTerminating, `${what.definition} is being deleted`, lost);
    }
    if (!cache.served) {
      return held(resetHeldReasons.definitionMissing, `the API server does not serve ${definitionName}`, lost);
    }
    return (
      heldAsNew(own, { writtenAt, what: what.namespace, lost, nowMs: nowMs(), ageOf }) ??
      heldAsNew(definition, { writtenAt, what: what.definition, lost, nowMs: nowMs(), ageOf })
    );
  };
}

/** "unknown": the operator may not read the object, as with roles of an older release. */
type Place = ObjectMeta | "missing" | "unknown";

interface Places {
  readonly own: Place;
  readonly definition: Place;
}

async function read(transport: Pick<Transport, "request">, path: string, signal: AbortSignal): Promise<Place> {
  try {
    const found = await transport.request({ method: "GET", path, accept: metadataOnly, signal });
    return isKubeObject(found) ? found.metadata : "unknown";
  } catch (error) {
    if (isKubeError(error, "NotFound")) return "missing";
    if (isKubeError(error, "Forbidden")) return "unknown";
    throw error;
  }
}

function isTerminating(place: Place): boolean {
  return typeof place === "object" && place.deletionTimestamp !== undefined;
}

function held(reason: ResetHold["reason"], cause: string, { objects, consequence }: LossWords): ResetHold {
  const message = `${cause}; restore the ${objects}, or wait: ${minutes} minutes after it exists again, ${consequence}`;
  return { reason, message, objects, afterMs: terminatingRecheckMs };
}

interface NewPlace {
  readonly writtenAt: string | undefined;
  /** The object, as messages call it. */
  readonly what: string;
  readonly lost: LossWords;
  readonly nowMs: number;
  readonly ageOf: (place: ObjectMeta) => number;
}

function heldAsNew(place: Place, { writtenAt, what, lost, nowMs, ageOf }: NewPlace): ResetHold | undefined {
  if (typeof place !== "object" || place.creationTimestamp === undefined) return undefined;
  const createdMs = Date.parse(place.creationTimestamp);
  if (Number.isNaN(createdMs)) return undefined;
  const afterMs = newForMs - ageOf(place);
  const writtenMs = recordedMs(writtenAt, nowMs);
  // Times of the API server have whole seconds. Times of clocks that were not set cannot be compared.
  const isComparable = writtenMs !== undefined && recordedMs(place.creationTimestamp, nowMs) !== undefined;
  const isOlder = !isComparable || writtenMs <= createdMs;
  if (!isOlder || afterMs <= 0) return undefined;
  const message =
    `${what} was created at ${place.creationTimestamp}, after the nodes were configured; restore the ${lost.objects} before ` +
    `${new Date(nowMs + afterMs).toISOString()}, when ${lost.consequence}`;
  return { reason: resetHeldReasons.restorePending, message, objects: lost.objects, afterMs };
}

function hasLess(after: DeviceGrant | undefined, before: DeviceGrant): boolean {
  if (after === undefined || after.count < before.count) return true;
  return before.resources.some((resource) => !after.resources.includes(resource));
}

const minutes = 5;
const newForMs = minutes * 60_000;
const terminatingRecheckMs = 10_000;

const namespaces = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
