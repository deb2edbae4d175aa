// SPDX-License-Identifier: Apache-2.0
/**
 * createHandOver reads and passes on the right to offer VFs of the node that were not offered before (SriovNetworkNodeState
 * status.offeredBy). The rule is decideOffer() of @switchyard/policy; the driver of ResourceClaims follows it, too.
 *
 * On nodes that have never given VFs to ResourceClaims, it sends nothing.
 */
import { sriovNetworkNodeStates, type SriovNetworkNodeState } from "@switchyard/api";
import { isRecord, objectPath, type Transport } from "@switchyard/kube";
import { allocationOf, mayBegin, type NodeAllocation } from "@switchyard/policy";

export interface HandOver {
  /**
   * Returns who may offer VFs. Before this process begins to offer VFs on a node that has moved, the API server is asked, because the
   * cache may be old. Rejects with KubeError.
   */
  confirm(state: SriovNetworkNodeState, signal: AbortSignal): Promise<ConfirmedAllocation>;
  /** Passes the right on to the driver of ResourceClaims. Rejects with KubeError "Conflict" if the node state has changed meanwhile. */
  write(state: SriovNetworkNodeState, signal: AbortSignal): Promise<void>;
}

export interface ConfirmedAllocation extends NodeAllocation {
  /** Whether the node has given, or is to give, VFs to ResourceClaims. Then caches are too old for a decision. */
  readonly hasMoved: boolean;
}

export interface HandOverDeps {
  readonly transport: Pick<Transport, "request">;
  /** Namespace of node states. */
  readonly namespace: string;
  /** Field manager of the right. */
  readonly manager: string;
}

export function createHandOver({ transport, namespace, manager }: HandOverDeps): HandOver {
  const pathOf = (name: string, subresource?: string) =>
    objectPath(sriovNetworkNodeStates, { name, namespace }, subresource);

  async function read(name: string, signal: AbortSignal): Promise<FreshState> {
    const found = await transport.request({ method: "GET", path: pathOf(name), signal });
    if (!isRecord(found)) throw new TypeError(`the API server has answered without a SriovNetworkNodeState ${name}`);
    return found as unknown as FreshState;
  }

  return {
    async confirm(state, signal) {
      const cached = allocationOf(state);
      const hasMoved = state.status?.offeredBy !== undefined || state.spec?.allocation !== undefined;
      if (!hasMoved || !mayBegin("devicePlugin", cached)) return { ...cached, hasMoved };
      const { status } = await read(state.metadata.name, signal);
      return { ...cached, offeredBy: allocationOf({ ...(status && { status }) }).offeredBy, hasMoved };
    },
    async write({ metadata: { name } }, signal) {
      const { metadata, status } = await read(name, signal);
      if (allocationOf({ ...(status && { status }) }).offeredBy !== "devicePlugin") return;
      await transport.request({
        method: "PATCH",
        path: pathOf(name, "status"),
        query: { fieldManager: manager },
        contentType: "application/merge-patch+json",
        body: {
          metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion },
          status: { offeredBy: "dra" },
        },
        signal,
      });
    },
  };
}

type FreshState = Pick<SriovNetworkNodeState, "metadata" | "status">;
