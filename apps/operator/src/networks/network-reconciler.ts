// SPDX-License-Identifier: Apache-2.0
/**
 * One NetworkAttachmentDefinition for each network, of all four kinds and in all namespaces (sriov-operator.md D). What
 * cannot be made is told on the network itself. No finalizers: what a network leaves behind in another namespace is found
 * by its owner-ref, also by an operator that was away when the network went (docs/decisions/011).
 */
import {
  annotations,
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
import { targetNamespace, type Network } from "@switchyard/render";
import type { ConditionSummary } from "../status/condition-summary.ts";
import { intendedNad, type IntentSources } from "./intended-nad.ts";
import { claimNad } from "./nad-claim.ts";
import { nadFailureSummary, nadKindMissing, namespaceGoing, namespaceMissing } from "./nad-failure.ts";
import { placeOf, type NadFacts } from "./network-caches.ts";
import { networkRef, networkTypes } from "./network-ref.ts";
import type { ReportNetwork } from "./network-status.ts";
import { isTerminating, type Networks } from "./networks.ts";
import type { OrphanedNads } from "./orphaned-nads.ts";

export interface NetworkReconcilerDeps extends IntentSources {
  readonly networks: Networks;
  readonly nads: Cache<NadFacts>;
  readonly namespaces: Cache<Namespace>;
  readonly orphans: OrphanedNads;
  readonly transport: Transport;
  readonly writer: Writer<NetworkAttachmentDefinition>;
  readonly report: ReportNetwork;
}

/** What came of a network; without a summary, it is too early for one. */
interface Outcome {
  readonly summary?: ConditionSummary;
  readonly requeue?: Requeue;
}

// Nobody tells that the kind has come; it costs no request to ask the cache.
const kindMissing = { afterMs: 2_000 };
const refused = { afterMs: 30_000 };
const cacheBehind = { afterMs: 500 };
// Most are gone before that, and wake us. What could not be asked about is asked about again.
const orphansLeft = { afterMs: 30_000 };

/** Keys are owner-refs (network-ref.ts). */
export function createNetworkReconciler(deps: NetworkReconcilerDeps): Reconcile {
  const { networks, nads, namespaces, orphans, transport, writer, report } = deps;

  return async function reconcile(ref, signal) {
    const network = networks.get(ref);
    if (network === undefined || isTerminating(network)) {
      const left = await orphans.delete(ref, network, signal);
      if (left > 0) return orphansLeft;
      if (network !== undefined) await letGo(network, signal);
      return undefined;
    }
    await letGo(network, signal);
    await tidyUp(network, signal);
    const intended = intendedNad(network, deps);
    const outcome: Outcome = intended.ok ? await make(network, intended.value, signal) : { summary: intended.error };
    if (outcome.summary !== undefined) await report(network, outcome.summary, signal);
    // Last, so that a deletion that is refused holds nothing up. A spec of which nothing can be made changes nothing.
    const left = intended.ok ? await orphans.delete(ref, network, signal) : 0;
    return outcome.requeue ?? (left > 0 ? orphansLeft : undefined);
  };

  async function make(network: Network, intended: NetworkAttachmentDefinition, signal: AbortSignal): Promise<Outcome> {
    if (!nads.served) return { summary: nadKindMissing(), requeue: kindMissing };
    const target = targetNamespace(network);
    const namespace = namespaces.get(target);
    if (namespace === undefined) return { summary: namespaceMissing(target) };
    if (namespace.metadata.deletionTimestamp !== undefined) return { summary: namespaceGoing(target) };

    const place = placeOf(network);
    const nad = nads.get(place);
    const claim = claimNad({ network, intended, nad, rivals: rivalsOf(network) });
    if (claim.kind === "taken") {
      return { summary: { state: "degraded", reason: networkReasons.invalid, message: claim.message } };
    }
    if (claim.kind === "going") {
      const message = `NetworkAttachmentDefinition ${place} is being deleted; a new one is created afterwards`;
      return { summary: { state: "progressing", reason: networkReasons.notFound, message } };
    }
    if (claim.kind === "free" && !(await mayBeMade(network, intended, signal))) return { requeue: cacheBehind };
    return write(intended, nad?.metadata.uid, signal);
  }

  async function write(intended: NetworkAttachmentDefinition, uid: string | undefined, signal: AbortSignal) {
    const { name, namespace = "default" } = intended.metadata;
    try {
      const metadata = { ...intended.metadata, ...(uid !== undefined && { uid }) };
      await writer.apply({ metadata, spec: intended.spec }, signal);
    } catch (error) {
      const summary = nadFailureSummary(error, namespace);
      if (summary === undefined) throw error;
      return { summary, requeue: isKubeError(error, "NotFound") ? kindMissing : refused };
    }
    const message = `NetworkAttachmentDefinition ${namespace}/${name} is up to date`;
    return { summary: { state: "ready", reason: networkReasons.ready, message } } as const;
  }

  /** Networks of which the same NetworkAttachmentDefinition could be made. */
  function rivalsOf(network: Network): readonly Network[] {
    const others = networks.wanting(placeOf(network)).filter((other) => networkRef(other) !== networkRef(network));
    return others.filter((other) => !isTerminating(other) && intendedNad(other, deps).ok);
  }

  /**
   * Asks the API server before one is made, as caches may be behind. To apply takes what is there by force, and it could
   * be somebody else's. And a network that is gone by now may be why there is none: the garbage collector would take each
   * new one away again.
   */
  async function mayBeMade(
    network: Network,
    { metadata }: NetworkAttachmentDefinition,
    signal: AbortSignal,
  ): Promise<boolean> {
    const owner = await read(networkTypes[network.kind], network.metadata, signal);
    if (!isKubeObject(owner) || owner.metadata.uid !== network.metadata.uid) return false;
    return (await read(networkAttachmentDefinitions, metadata, signal)) === undefined;
  }

  /** undefined where there is none. */
  async function read(type: ResourceType, name: ObjectName, signal: AbortSignal): Promise<unknown> {
    try {
      return await transport.request({ method: "GET", path: objectPath(type, name), signal });
    } catch (error) {
      if (isKubeError(error, "NotFound")) return undefined;
      throw error;
    }
  }

  /** Upstream's operator waits for its finalizer; nobody waits for us. */
  async function letGo(network: Network, signal: AbortSignal): Promise<void> {
    const type = networkTypes[network.kind];
    await removeFinalizer({ transport, type, object: network, finalizer: upstreamFinalizers.network, signal });
  }

  /** Upstream's note of where the NetworkAttachmentDefinition was last. */
  async function tidyUp(network: Network, signal: AbortSignal): Promise<void> {
    const type = networkTypes[network.kind];
    const annotation = { [annotations.lastNetworkNamespace]: null };
    await patchMetadata({ transport, type, object: network, annotations: annotation, signal });
  }
}
