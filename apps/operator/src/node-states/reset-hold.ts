// SPDX-License-Identifier: Apache-2.0
/**
 * createResetHold decides whether a node may lose configuration for want of policies. Policies also vanish without anybody's
 * wish: their namespace or CustomResourceDefinition is deleted or replaced, and they are restored later or never. So a node
 * keeps its spec while one of both is being deleted or the definition is missing, and for five minutes after one of both was
 * created, if the spec is older. A spec that was merged after that shows that there were policies, whose deletion is a wish.
 * So a new installation does not wait.
 *
 * It asks the API server only when a spec would lose something, and not the caches: these show the deletion of the policies
 * before that of their definition.
 */
import {
  resetHeldReasons,
  sriovNetworkNodePolicies,
  type InterfaceSpec,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { isKubeError, isKubeObject, metadataOnly, objectPath, type ObjectMeta, type Transport } from "@switchyard/kube";

/** Why nodes keep their configuration without policies. */
export interface ResetHold {
  readonly reason: (typeof resetHeldReasons)[keyof typeof resetHeldReasons];
  /** A sentence without a period. */
  readonly message: string;
  /** Time until this must be asked again. */
  readonly afterMs: number;
}

/** `writtenAt` is when the spec that would lose something was written (RFC 3339); undefined if that is unknown. */
export type FindResetHold = (writtenAt: string | undefined, signal: AbortSignal) => Promise<ResetHold | undefined>;

export interface ResetHoldDeps {
  readonly transport: Pick<Transport, "request">;
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly nowMs: () => number;
}

/**
 * Returns undefined if a node with the spec `before` loses no VFs, no resource and no PF by the spec `after`. Otherwise returns
 * when what it loses was written, if that is `specWrittenAt`. A PF that `before` does not have was configured in an earlier
 * life of the node state, at an unknown time.
 */
export function wereLostTogether(
  { spec: before, specWrittenAt }: { readonly spec: SriovNetworkNodeStateSpec; readonly specWrittenAt?: string },
  after: SriovNetworkNodeStateSpec,
): { readonly writtenAt: string | undefined } | undefined {
  const { interfaces = [], unselected = [] } = before;
  const kept = new Map((after.interfaces ?? []).map((pf) => [pf.pciAddress, pf]));
  const known = new Set([...unselected, ...interfaces.map(({ pciAddress }) => pciAddress)]);
  if (after.unselected?.some((pciAddress) => !known.has(pciAddress)) === true) return { writtenAt: undefined };
  return interfaces.some((pf) => hasLess(kept.get(pf.pciAddress), pf)) ? { writtenAt: specWrittenAt } : undefined;
}

/** Asks the API server at most once a second, for all nodes. Rejects with KubeError. */
export function createResetHold({ transport, namespace, nowMs }: ResetHoldDeps): FindResetHold {
  let last: { readonly askedMs: number; readonly places: Promise<Places> } | undefined;

  async function ask(signal: AbortSignal): Promise<Places> {
    const [own, definition] = await Promise.all([
      read(transport, objectPath(namespaces, { name: namespace }), signal),
      read(transport, objectPath(definitions, { name: definitionName }), signal),
    ]);
    return { own, definition };
  }

  return async function findResetHold(writtenAt, signal) {
    if (last === undefined || nowMs() - last.askedMs >= rememberedMs || nowMs() < last.askedMs) {
      last = { askedMs: nowMs(), places: ask(signal) };
      last.places.catch(() => {
        last = undefined;
      });
    }
    const { own, definition } = await last.places;
    const what = { namespace: `namespace ${namespace}`, definition: `CustomResourceDefinition ${definitionName}` };
    if (isTerminating(own)) return held(resetHeldReasons.namespaceTerminating, `${what.namespace} is being deleted`);
    if (definition === "missing") return held(resetHeldReasons.definitionMissing, `${what.definition} does not exist`);
    if (isTerminating(definition)) {
      return held(resetHeldReasons.definitionTerminating, `${what.definition} is being deleted`);
    }
    return (
      heldAsNew(own, { writtenAt, what: what.namespace, nowMs: nowMs() }) ??
      heldAsNew(definition, { writtenAt, what: what.definition, nowMs: nowMs() })
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

function held(reason: ResetHold["reason"], cause: string): ResetHold {
  const message = `${cause}; restore the policies, or wait: ${minutes} minutes after it exists again, nodes without policies are reset`;
  return { reason, message, afterMs: terminatingRecheckMs };
}

function heldAsNew(
  place: Place,
  { writtenAt, what, nowMs }: { writtenAt: string | undefined; what: string; nowMs: number },
): ResetHold | undefined {
  if (typeof place !== "object" || place.creationTimestamp === undefined) return undefined;
  const createdMs = Date.parse(place.creationTimestamp);
  const untilMs = createdMs + newForMs;
  // Times of the API server have whole seconds.
  const isOlder = writtenAt === undefined || Date.parse(writtenAt) <= createdMs;
  if (Number.isNaN(untilMs) || !isOlder || nowMs >= untilMs) return undefined;
  const message =
    `${what} was created at ${place.creationTimestamp}, after the nodes were configured; restore the policies before ` +
    `${new Date(untilMs).toISOString()}, when nodes without policies are reset`;
  return { reason: resetHeldReasons.restorePending, message, afterMs: untilMs - nowMs };
}

function hasLess(after: InterfaceSpec | undefined, before: InterfaceSpec): boolean {
  if (after === undefined || (after.numVfs ?? 0) < (before.numVfs ?? 0)) return true;
  const resources = new Set((after.vfGroups ?? []).map(({ resourceName }) => resourceName));
  return (before.vfGroups ?? []).some(({ resourceName }) => !resources.has(resourceName));
}

const minutes = 5;
const newForMs = minutes * 60_000;
const rememberedMs = 1_000;
const terminatingRecheckMs = 10_000;

const namespaces = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
const definitions = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};
const definitionName = `${sriovNetworkNodePolicies.plural}.${sriovNetworkNodePolicies.group}`;
