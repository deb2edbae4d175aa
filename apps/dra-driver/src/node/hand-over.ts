// SPDX-License-Identifier: Apache-2.0
/**
 * createHandOver passes the right to offer VFs of the node on to the device plugin (SriovNetworkNodeState status.offeredBy), and reports
 * how many VFs are in the slices. The rule is decideOffer() of @switchyard/policy.
 */
import { defined, sriovNetworkNodeStates, type SriovNetworkNodeState } from "@switchyard/api";
import { createWriter, isKubeObject, objectPath, type Transport } from "@switchyard/kube";
import { allocationOf } from "@switchyard/policy";

export interface HandOver {
  /** Rejects with KubeError "Conflict" if the node state has changed meanwhile. */
  toDevicePlugin(signal: AbortSignal): Promise<void>;
  /** Writes status.publishedVfs if it differs. Rejects with KubeError. */
  report(count: number, state: SriovNetworkNodeState | undefined, signal: AbortSignal): Promise<void>;
}

export interface HandOverDeps {
  readonly transport: Transport;
  readonly nodeName: string;
  /** Namespace of node states. */
  readonly namespace: string;
  readonly manager: string;
}

export function createHandOver({ transport, nodeName: name, namespace, manager }: HandOverDeps): HandOver {
  const path = (subresource?: string) => objectPath(sriovNetworkNodeStates, { name, namespace }, subresource);
  const writer = createWriter<SriovNetworkNodeState>({ transport, namespace, manager, type: sriovNetworkNodeStates });
  return {
    async toDevicePlugin(signal) {
      const found = await transport.request({ method: "GET", path: path(), signal });
      if (!isKubeObject(found))
        throw new TypeError(`the API server has answered without a SriovNetworkNodeState ${name}`);
      if (allocationOf(found as SriovNetworkNodeState).offeredBy !== "dra") return;
      const { uid, resourceVersion } = found.metadata;
      await transport.request({
        method: "PATCH",
        path: path("status"),
        query: { fieldManager: manager },
        contentType: "application/merge-patch+json",
        body: { metadata: { uid, resourceVersion }, status: { offeredBy: "devicePlugin" } },
        signal,
      });
    },
    async report(publishedVfs, state, signal) {
      if (state === undefined || state.status?.publishedVfs === publishedVfs) return;
      const { uid } = state.metadata;
      await writer.applyStatus(
        { metadata: { name, namespace, ...defined({ uid }) }, status: { publishedVfs } },
        signal,
      );
    },
  };
}
