// SPDX-License-Identifier: Apache-2.0
/**
 * createNodePods is what a simulated kubelet does with the objects of its pods: it lists them, reads the VFs of their claims, starts them
 * and removes them.
 */
import { pods, resourceClaims } from "@switchyard/api";
import { isKubeError, listPages, objectPath, type Transport } from "@switchyard/kube";
import { readAllocation } from "@switchyard/policy";
import { addressOfDevice } from "@switchyard/render";

/** The fields of a pod in use. */
export interface PodOnNode {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly {
      readonly image?: string;
      readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
    }[];
  };
  readonly status: {
    readonly phase?: string;
    readonly extendedResourceClaimStatus?: { readonly resourceClaimName: string };
    readonly resourceClaimStatuses?: readonly { readonly resourceClaimName?: string }[];
  };
}

/** All methods reject with KubeError. */
export interface NodePods {
  list(): Promise<readonly PodOnNode[]>;
  /** Returns the PCI addresses of the VFs of the pod's claims; undefined if it has no claims. */
  claimedVfs(pod: PodOnNode): Promise<readonly string[] | undefined>;
  /** Returns the PCI addresses of all VFs of this node in allocated claims, whether their pods have started or not. */
  allClaimedVfs(): Promise<ReadonlySet<string>>;
  start(pod: PodOnNode): Promise<void>;
  /** As a kubelet whose device plugin has no free device. */
  refuse(pod: PodOnNode): Promise<void>;
  remove(pod: PodOnNode): Promise<void>;
}

export function createNodePods(transport: Transport, nodeName: string): NodePods {
  return {
    list: () => listPods(transport, { fieldSelector: `spec.nodeName=${nodeName}` }),
    async claimedVfs(pod) {
      const claims = claimsOf(pod);
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
    start: (pod) => writeStatus(pod, { phase: "Running", conditions: [{ type: "Ready", status: "True" }] }),
    refuse: (pod) => writeStatus(pod, { phase: "Failed", reason: "UnexpectedAdmissionError" }),
    async remove({ metadata }) {
      const preconditions = { uid: metadata.uid };
      const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions };
      await unlessGone(transport.request({ method: "DELETE", path: objectPath(pods, metadata), body }));
    },
  };

  async function writeStatus({ metadata }: PodOnNode, status: object): Promise<void> {
    const path = objectPath(pods, metadata, "status");
    const body = { metadata: { uid: metadata.uid }, status };
    await unlessGone(transport.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body }));
  }
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

function claimsOf({ status }: PodOnNode): readonly string[] {
  const own = (status.resourceClaimStatuses ?? []).flatMap(({ resourceClaimName }) => resourceClaimName ?? []);
  const ofLimits = status.extendedResourceClaimStatus?.resourceClaimName;
  return ofLimits === undefined ? own : [...own, ofLimits];
}

async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isKubeError(error, "NotFound", "Conflict")) throw error;
  }
}
