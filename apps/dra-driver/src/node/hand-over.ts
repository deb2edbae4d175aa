// SPDX-License-Identifier: Apache-2.0
/**
 * createHandOver passes the right to offer VFs of the node on to the device plugin (SriovNetworkNodeState status.offeredBy), and reports
 * how many VFs are in the slices, and what does not work. The rule is decideOffer() of @switchyard/policy.
 */
import { conditionTypes, defined, sriovNetworkNodeStates, type SriovNetworkNodeState } from "@switchyard/api";
import { createWriter, equalJson, isKubeObject, objectPath, setConditions, type Transport } from "@switchyard/kube";
import { allocationOf } from "@switchyard/policy";
import type { Problem } from "../health/damp.ts";
import { healthConditions } from "../health/health-condition.ts";

export interface HandOver {
  /** Rejects with KubeError "Conflict" if the node state has changed meanwhile. */
  toDevicePlugin(signal: AbortSignal): Promise<void>;
  /** Writes status.publishedVfs and the condition VfsUnhealthy if they differ. Rejects with KubeError. */
  report(seen: NodeReport, state: SriovNetworkNodeState | undefined, signal: AbortSignal): Promise<void>;
}

export interface NodeReport {
  /** Number of VFs in the slices. */
  readonly publishedVfs: number;
  /** What does not work, PFs first. */
  readonly problems: readonly Problem[];
}

export interface HandOverDeps {
  readonly now: () => Date;
  readonly transport: Transport;
  readonly nodeName: string;
  /** Namespace of node states. */
  readonly namespace: string;
  readonly manager: string;
}

export function createHandOver({ transport, nodeName: name, namespace, manager, now }: HandOverDeps): HandOver {
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
    async report({ publishedVfs, problems }, state, signal) {
      if (state === undefined) return;
      const { uid, generation } = state.metadata;
      const before = (state.status?.conditions ?? []).filter(({ type }) => type === conditionTypes.vfsUnhealthy);
      const options = { now: now(), ...defined({ observedGeneration: generation }) };
      const found = healthConditions(problems);
      const conditions = found.length === 0 ? [] : setConditions(before, found, options);
      if (state.status?.publishedVfs === publishedVfs && equalJson(conditions, before)) return;
      const status = { publishedVfs, ...(conditions.length > 0 && { conditions }) };
      await writer.applyStatus({ metadata: { name, namespace, ...defined({ uid }) }, status }, signal);
    },
  };
}
