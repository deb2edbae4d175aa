// SPDX-License-Identifier: Apache-2.0
/**
 * createNodePods is what a simulated kubelet does with the objects of its pods: it lists them, reads the VFs of their claims, starts
 * and removes them.
 */
import { pods, resourceClaims } from "@switchyard/api";
import { listPages, objectPath, type Transport } from "@switchyard/kube";
import { readAllocation } from "@switchyard/policy";
import { addressOfDevice } from "@switchyard/render";
import { claimNamesOf, createPodWriter, type PodOnNode, type PodWriter } from "@switchyard/test-cluster";

/** All methods reject with KubeError. */
export interface NodePods extends PodWriter {
  list(): Promise<readonly PodOnNode[]>;
  /** Returns the PCI addresses of the VFs of the pod's claims; undefined if it has no claims. */
  claimedVfs(pod: PodOnNode): Promise<readonly string[] | undefined>;
  /** Returns the PCI addresses of all VFs of this node in allocated claims, whether their pods have started or not. */
  allClaimedVfs(): Promise<ReadonlySet<string>>;
}

export function createNodePods(transport: Transport, nodeName: string): NodePods {
  return {
    ...createPodWriter(transport),
    list: () => listPods(transport, { fieldSelector: `spec.nodeName=${nodeName}` }),
    async claimedVfs(pod) {
      const claims = claimNamesOf(pod);
      if (claims.length === 0) return undefined;
      const { namespace } = pod.metadata;
      const found = claims.map(async (name) => {
        const claim = await transport.request({ method: "GET", path: objectPath(resourceClaims, { name, namespace }) });
        return readAllocation(claim).flatMap(({ device }) => addressOfDevice(device) ?? []);
      });
      return (await Promise.all(found)).flat();
    },
    async allClaimedVfs() {
      const claimed = new Set<string>();
      for await (const { items } of listPages(transport, { type: resourceClaims })) {
        for (const { pool, device } of items.flatMap(readAllocation)) {
          if (pool === nodeName) claimed.add(addressOfDevice(device) ?? "");
        }
      }
      return claimed;
    },
  };
}

/** Rejects with KubeError. */
export async function listPods(
  transport: Transport,
  selector: { readonly fieldSelector?: string; readonly labelSelector?: string },
): Promise<readonly PodOnNode[]> {
  const found: PodOnNode[] = [];
  for await (const { items } of listPages(transport, { type: pods, ...selector })) {
    found.push(...(items as unknown as readonly PodOnNode[]));
  }
  return found;
}
