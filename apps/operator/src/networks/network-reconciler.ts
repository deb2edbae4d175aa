// SPDX-License-Identifier: Apache-2.0
/**
 * createNetworkReconciler keeps one NetworkAttachmentDefinition (NAD) for each network, of all kinds and in all
 * namespaces (sriov-operator.md D). Problems are reported on the network. Networks have no finalizers
 * (docs/decisions/011-no-finalizers-on-networks.md). A NAD that a deleted network left in another namespace is found by
 * its owner-ref annotation, also by an operator that did not run when the network was deleted.
 */
import {
  annotations,
  defined,
  networkAttachmentDefinitions,
  networkReasons,
  upstreamFinalizers,
  type Namespace,
  type NetworkAttachmentDefinition,
} from "@switchyard/api";
import {
  isKubeError,
  isKubeObject,
  objectPath,
  patchMetadata,
  removeFinalizer,
  type Cache,
  type ObjectName,
  type Reconcile,
  type Requeue,
  type ResourceType,
  type Transport,
  type Writer,
} from "@switchyard/kube";
import { networkRef, networkTypes, targetNamespace, type Network } from "@switchyard/render";
import type { ConditionSummary } from "../reports/condition-summary.ts";
import { intendedNad, type IntendedNad, type IntentSources } from "./intended-nad.ts";
import { claimNad } from "./nad-claim.ts";
import {
  nadFailure,
  nadKindMissing,
  namespaceMissing,
  namespaceTerminating,
  type ReportNetwork,
} from "./network-status.ts";
import { nadKey, type CachedNad } from "../facts/network-caches.ts";
import { isTerminating, type Networks } from "../facts/networks.ts";
import type { OrphanedNads } from "./orphaned-nads.ts";

export interface NetworkReconcilerDeps extends IntentSources {
  readonly networks: Networks;
  readonly nads: Cache<CachedNad>;
  readonly namespaces: Cache<Namespace>;
  readonly orphans: OrphanedNads;
  readonly transport: Transport;
  readonly writer: Writer<NetworkAttachmentDefinition>;
  readonly report: ReportNetwork;
}

/** Result of applying a NAD. Without a summary, the status is not written yet. */
interface Outcome {
  readonly summary?: ConditionSummary;
  readonly requeue?: Requeue;
}

// No event follows when the API server begins to serve the kind. Asking the cache costs no request.
const kindMissing = { afterMs: 2_000 };
const refused = { afterMs: 30_000 };
/** The end of a contest, and a webhook that is gone, cause no event. */
const interfered = { afterMs: 60_000 };
const cacheBehind = { afterMs: 500 };

/** The keys are owner-refs: networkRef(). */
export function createNetworkReconciler(deps: NetworkReconcilerDeps): Reconcile {
  const { networks, orphans, transport, report } = deps;

  return async function reconcile(ref, signal) {
    const network = networks.get(ref);
    if (network === undefined || isTerminating(network)) {
      const left = await orphans.delete(ref, network, signal);
      if (left !== undefined) return left;
      if (network !== undefined) await removeUpstreamFinalizer(transport, network, signal);
      return undefined;
    }
    await removeUpstreamFinalizer(transport, network, signal);
    await removeUpstreamAnnotation(transport, network, signal);
    const intended = intendedNad(network, deps);
    const outcome: Outcome = intended.ok
      ? await applyNad(deps, network, intended.value, signal)
      : { summary: intended.error };
    const contested = outcome.summary && (await report(network, outcome.summary, signal));
    // Orphans come last, so that a refused deletion delays nothing else. An invalid spec deletes nothing.
    const left = intended.ok ? await orphans.delete(ref, network, signal) : undefined;
    return outcome.requeue ?? left ?? contested;
  };
}

async function applyNad(
  deps: NetworkReconcilerDeps,
  network: Network,
  intended: IntendedNad,
  signal: AbortSignal,
): Promise<Outcome> {
  const { nads, namespaces, transport } = deps;
  if (!nads.served) return { summary: nadKindMissing(), requeue: kindMissing };
  const target = targetNamespace(network);
  const namespace = namespaces.get(target);
  if (namespace === undefined) return { summary: namespaceMissing(target) };
  if (namespace.metadata.deletionTimestamp !== undefined) return { summary: namespaceTerminating(target) };

  const key = nadKey(network);
  const nad = nads.get(key);
  const claim = claimNad({ network, intended: intended.nad, nad, otherNetworks: otherNetworksOf(deps, network) });
  if (claim.kind === "taken") {
    return { summary: { state: "degraded", reason: networkReasons.invalid, message: claim.message } };
  }
  if (claim.kind === "terminating") {
    const message = `NetworkAttachmentDefinition ${key} is being deleted; a new one is created afterwards`;
    return { summary: { state: "progressing", reason: networkReasons.notFound, message } };
  }
  if (claim.kind === "free" && !(await mayCreate(transport, network, intended.nad, signal))) {
    return { requeue: cacheBehind };
  }
  return writeNad(deps.writer, intended, nad?.metadata.uid, signal);
}

async function writeNad(
  writer: NetworkReconcilerDeps["writer"],
  { nad, limit }: IntendedNad,
  uid: string | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  const { name, namespace = "default" } = nad.metadata;
  try {
    await writer.apply({ metadata: { ...nad.metadata, ...defined({ uid }) }, spec: nad.spec }, signal);
  } catch (error) {
    const summary = nadFailure(error, namespace);
    if (summary === undefined) throw error;
    return { summary, requeue: isKubeError(error, "NotFound") ? kindMissing : refused };
  }
  const others = writer.interference(nad);
  if (others?.kind === "contested") {
    const message = `NetworkAttachmentDefinition ${namespace}/${name}: ${others.message}`;
    return { summary: { state: "degraded", reason: networkReasons.contested, message }, requeue: interfered };
  }
  const message = `NetworkAttachmentDefinition is provisioned as ${namespace}/${name}${limit === "" ? "" : `; ${limit}`}`;
  if (others === undefined) return { summary: { state: "ready", reason: networkReasons.ready, message } };
  const warned = `NetworkAttachmentDefinition ${namespace}/${name}: ${others.message}${limit === "" ? "" : `; ${limit}`}`;
  return {
    summary: { state: "ready", reason: networkReasons.replaced, message: warned, isWarning: true },
    requeue: interfered,
  };
}

/** Returns the other valid networks that want the same NAD. */
function otherNetworksOf(deps: NetworkReconcilerDeps, network: Network): readonly Network[] {
  const sameNad = deps.networks.forNad(nadKey(network));
  const others = sameNad.filter((other) => networkRef(other) !== networkRef(network));
  return others.filter((other) => !isTerminating(other) && intendedNad(other, deps).ok);
}

/**
 * Asks the API server before a NAD is created, because the caches may lag behind. An apply with force would take over a
 * NAD that another client has just created. And if the network is gone by now, the garbage collector would delete each
 * new NAD.
 */
async function mayCreate(
  transport: Transport,
  network: Network,
  { metadata }: NetworkAttachmentDefinition,
  signal: AbortSignal,
): Promise<boolean> {
  const owner = await read(networkTypes[network.kind], network.metadata);
  if (!isKubeObject(owner) || owner.metadata.uid !== network.metadata.uid) return false;
  return (await read(networkAttachmentDefinitions, metadata)) === undefined;

  /** Returns undefined if the object does not exist. */
  async function read(type: ResourceType, name: ObjectName): Promise<unknown> {
    try {
      return await transport.request({ method: "GET", path: objectPath(type, name), signal });
    } catch (error) {
      if (isKubeError(error, "NotFound")) return undefined;
      throw error;
    }
  }
}

/** Upstream's operator relies on its finalizer; this operator works without. */
async function removeUpstreamFinalizer(transport: Transport, network: Network, signal: AbortSignal): Promise<void> {
  const type = networkTypes[network.kind];
  await removeFinalizer({ transport, type, object: network, finalizer: upstreamFinalizers.network, signal });
}

/** Removes upstream's annotation with the last namespace of the NAD. */
async function removeUpstreamAnnotation(transport: Transport, network: Network, signal: AbortSignal): Promise<void> {
  const type = networkTypes[network.kind];
  const annotation = { [annotations.lastNetworkNamespace]: null };
  await patchMetadata({ transport, type, object: network, annotations: annotation, signal });
}
