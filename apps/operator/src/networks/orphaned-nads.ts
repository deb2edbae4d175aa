// SPDX-License-Identifier: Apache-2.0
/**
 * OrphanedNads deletes NetworkAttachmentDefinitions (NADs) whose network is deleted or now wants another namespace
 * (sriov-operator.md M-15). They are found by their owner-ref annotation, so no state has to be kept and no finalizer
 * is needed. The garbage collector deletes NADs in the namespace of their network.
 */
import type { NetworkAttachmentDefinition } from "@switchyard/api";
import {
  apiVersionOf,
  isKubeError,
  isKubeObject,
  objectPath,
  type Cache,
  type Requeue,
  type Transport,
  type Writer,
} from "@switchyard/kube";
import {
  networkTypes,
  parseNetworkRef,
  targetNamespace,
  type Network,
  type NetworkKind,
  type NetworkName,
} from "@switchyard/render";
import { mayChooseNamespace } from "./intended-nad.ts";
import type { CachedNad } from "../facts/network-caches.ts";
import { isTerminating } from "../facts/networks.ts";
import type { RecentDeletions } from "../facts/recent-deletions.ts";
import type { FindResetHold } from "../node-states/reset-hold.ts";

export interface OrphanedNadsDeps {
  readonly nads: Cache<CachedNad>;
  readonly transport: Transport;
  readonly writer: Writer<NetworkAttachmentDefinition>;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** Deletions of networks. */
  readonly deletions: RecentDeletions;
  /** Called with the kind of an absent network and the creation time of its NAD. */
  readonly findNetworkHold: FindNetworkHold;
}

/** Returns why the networks of a kind may be lost against the wish of their users. Rejects with KubeError. */
export type FindNetworkHold = (kind: NetworkKind, ...asked: Parameters<FindResetHold>) => ReturnType<FindResetHold>;

export interface OrphanedNads {
  /**
   * Deletes the orphaned NADs of the network `ref`, which the cache shows as `network`, after it has read the network
   * from the API server, because the cache may lag behind. Those of a network that may come back at once, or that was lost with its
   * kind, stay. Returns when to look again; undefined if the cache showed none. Rejects with KubeError.
   */
  delete(ref: string, network: Network | undefined, signal: AbortSignal): Promise<Requeue | undefined>;
}

/** Most orphans are gone earlier, which enqueues the network. This retries those that could not be checked. */
const orphansLeft = { afterMs: 30_000 };

export function createOrphanedNads(deps: OrphanedNadsDeps): OrphanedNads {
  const { nads, transport, writer, namespace } = deps;
  return {
    async delete(ref, network, signal) {
      const named = parseNetworkRef(ref);
      if (named === undefined) return undefined;
      const orphans = nads.byIndex("owner", ref).filter((nad) => isOrphaned(nad, named, network, namespace));
      const remaining = orphans.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const [first] = remaining;
      if (first === undefined) return orphans.length === 0 ? undefined : orphansLeft;
      if (network === undefined) {
        const waitMs = deps.deletions.remainingMs();
        if (waitMs > 0) return { afterMs: waitMs };
        const hold = await deps.findNetworkHold(named.kind, first.metadata.creationTimestamp, signal);
        if (hold !== undefined) return { afterMs: hold.afterMs };
      }
      const live = await readLive(named, signal);
      if (live === "unknown") return orphansLeft;
      for (const nad of remaining) if (isOrphaned(nad, named, live, namespace)) await writer.delete(nad, signal);
      return orphansLeft;
    },
  };

  /** Returns "unknown" if the API server does not serve the kind, which is no reason to delete anything. */
  async function readLive(named: NetworkName, signal: AbortSignal): Promise<Network | undefined | "unknown"> {
    try {
      const object = await transport.request({
        method: "GET",
        path: objectPath(networkTypes[named.kind], named),
        signal,
      });
      return isNetwork(object, named.kind) ? object : "unknown";
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error;
      return error.details?.name === named.name ? undefined : "unknown";
    }
  }
}

/** A copy under another name was not created by the operator, whatever its annotation contains. */
function isOrphaned(
  nad: CachedNad,
  owner: NetworkName,
  network: Network | undefined,
  operatorNamespace: string,
): boolean {
  if (nad.metadata.name !== owner.name) return false;
  if (network === undefined || isTerminating(network)) return nad.metadata.namespace !== owner.namespace;
  return mayChooseNamespace(network, operatorNamespace) && nad.metadata.namespace !== targetNamespace(network);
}

// The API server has checked the object against the schema of its kind.
function isNetwork(object: unknown, kind: Network["kind"]): object is Network {
  return isKubeObject(object) && object.apiVersion === apiVersionOf(networkTypes[kind]) && object.kind === kind;
}
