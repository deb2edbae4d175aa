// SPDX-License-Identifier: Apache-2.0
/**
 * NetworkAttachmentDefinitions that are no longer wanted where they are: their network wants another namespace now
 * (sriov-operator.md M-15), or is no more. They are found by looking at what is there, so nothing needs to be remembered, and
 * no finalizer to wait for us. Those in their network's own namespace are the garbage collector's.
 * Usage: `const orphans = createOrphanedNads({ nads, transport, writer, namespace }); await orphans.delete(ref, network, signal)`.
 */
import { apiVersion, type NetworkAttachmentDefinition } from "@switchyard/api";
import { isKubeError, isKubeObject, objectPath, type Cache, type Transport, type Writer } from "@switchyard/kube";
import { targetNamespace, type Network } from "@switchyard/render";
import { mayChooseNamespace } from "./intended-nad.ts";
import type { NadFacts } from "./network-caches.ts";
import { networkTypes, parseNetworkRef, type NetworkName } from "./network-ref.ts";
import { isTerminating } from "./networks.ts";

export interface OrphanedNadsDeps {
  readonly nads: Cache<NadFacts>;
  readonly transport: Transport;
  readonly writer: Writer<NetworkAttachmentDefinition>;
  /** The operator's. */
  readonly namespace: string;
}

export interface OrphanedNads {
  /**
   * Deletes those of the network `ref`, which as far as known is `network`, after asking the API server for it: a cache
   * may be behind. Answers how many there were: they are gone when the cache has heard of it.
   */
  delete(ref: string, network: Network | undefined, signal: AbortSignal): Promise<number>;
}

export function createOrphanedNads({ nads, transport, writer, namespace }: OrphanedNadsDeps): OrphanedNads {
  return {
    async delete(ref, network, signal) {
      const named = parseNetworkRef(ref);
      if (named === undefined) return 0;
      const orphans = nads.byIndex("owner", ref).filter((nad) => isOrphaned(nad, named, network, namespace));
      const staying = orphans.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (staying.length > 0) {
        const live = await readLive(named, signal);
        if (live === "unknown") return orphans.length;
        for (const nad of staying) if (isOrphaned(nad, named, live, namespace)) await writer.delete(nad, signal);
      }
      return orphans.length;
    },
  };

  /** "unknown" while the API server has no such kind, which is no reason to delete anything. */
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

/** A copy under another name is not of our making, whatever its annotation says. */
function isOrphaned(
  nad: NadFacts,
  owner: NetworkName,
  network: Network | undefined,
  operatorNamespace: string,
): boolean {
  if (nad.metadata.name !== owner.name) return false;
  if (network === undefined || isTerminating(network)) return nad.metadata.namespace !== owner.namespace;
  return mayChooseNamespace(network, operatorNamespace) && nad.metadata.namespace !== targetNamespace(network);
}

// The API server has checked it against its kind's schema.
function isNetwork(object: unknown, kind: Network["kind"]): object is Network {
  return isKubeObject(object) && object.apiVersion === apiVersion && object.kind === kind;
}
