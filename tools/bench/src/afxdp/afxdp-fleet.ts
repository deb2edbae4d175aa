// SPDX-License-Identifier: Apache-2.0
/** The nodes of a simulated fleet with AF_XDP devices. */
import { afxdpNetworkNodeStates, nodes as nodeType, sriovOperatorConfigs } from "@switchyard/api";
import { collectionPath, objectPath } from "@switchyard/kube";
import { nodeName, nodeObject, operatorConfig, operatorNamespace } from "../fleet/fleet-objects.ts";
import { inParallel, type PlainClient } from "../harness/plain-client.ts";
import type { Progress } from "../harness/progress.ts";

export interface AfxdpFleet {
  readonly nodes: number;
  /** The number of concurrent requests. */
  readonly connections: number;
  /** Aborted when the run fails; its reason is the error. */
  readonly signal: AbortSignal;
}

/** Creates the Nodes and a SriovOperatorConfig. Rejects with BenchError `refused`, or with the signal's reason. */
export async function createNodes(admin: PlainClient, fleet: AfxdpFleet, progress: Progress): Promise<void> {
  let made = 0;
  progress.at(`creating ${fleet.nodes} nodes`, () => `${made} of ${fleet.nodes}`);
  await forAll(fleet, async (index) => {
    await admin.request({ method: "POST", path: collectionPath(nodeType), body: nodeObject(index) });
    made += 1;
  });
  const configs = collectionPath(sriovOperatorConfigs, operatorNamespace);
  await admin.request({ method: "POST", path: configs, body: operatorConfig });
}

/** Calls `work` with the index of each node. Rejects with its first error, or with the signal's reason. */
export function forAll(
  { nodes, connections, signal }: AfxdpFleet,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  const indexes = Array.from({ length: nodes }, (_, index) => index);
  return inParallel(indexes, connections, (index) => {
    signal.throwIfAborted();
    return work(index);
  });
}

/** Path of the AfxdpNetworkNodeState of a node. */
export function statePath(namespace: string, index: number, subresource?: string): string {
  return objectPath(afxdpNetworkNodeStates, { name: nodeName(index), namespace }, subresource);
}
