// SPDX-License-Identifier: Apache-2.0
/**
 * createPodWriter makes the changes that a kubelet makes of the objects of its pods: it starts, refuses and removes them.
 * claimNamesOf returns the ResourceClaims of a pod, which a kubelet has a driver prepare.
 */
import { pods } from "@switchyard/api";
import { isKubeError, objectPath, type KubeObject, type Transport } from "@switchyard/kube";

/** The fields of a pod in use. */
export interface PodOnNode extends KubeObject {
  readonly metadata: KubeObject["metadata"] & {
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly {
      readonly name?: string;
      readonly image?: string;
      readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
    }[];
    readonly resourceClaims?: readonly { readonly resourceClaimName?: string }[];
  };
  readonly status: {
    readonly phase?: string;
    readonly extendedResourceClaimStatus?: { readonly resourceClaimName: string };
    readonly resourceClaimStatuses?: readonly { readonly resourceClaimName?: string }[];
  };
}

/** A pod that starts, with the names of its containers if they are to be ready. */
type StartedPod = KubeObject & { readonly spec?: { readonly containers?: readonly { readonly name?: string }[] } };

/** All methods reject with KubeError, but not if the pod is gone or another one has its name. */
export interface PodWriter {
  start(pod: StartedPod): Promise<void>;
  /** As a kubelet whose device plugin has no free device. */
  refuse(pod: KubeObject): Promise<void>;
  remove(pod: KubeObject): Promise<void>;
}

export function createPodWriter(transport: Transport): PodWriter {
  async function writeStatus({ metadata }: KubeObject, status: object): Promise<void> {
    const path = objectPath(pods, metadata, "status");
    const body = { metadata: { uid: metadata.uid }, status };
    await unlessGone(transport.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body }));
  }

  return {
    start: (pod) =>
      writeStatus(pod, {
        phase: "Running",
        conditions: [{ type: "Ready", status: "True" }],
        containerStatuses: (pod.spec?.containers ?? []).map(({ name = "" }) => ({ name, ...runningContainer })),
      }),
    refuse: (pod) => writeStatus(pod, { phase: "Failed", reason: "UnexpectedAdmissionError" }),
    async remove({ metadata }) {
      const preconditions = { uid: metadata.uid };
      const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions };
      await unlessGone(transport.request({ method: "DELETE", path: objectPath(pods, metadata), body }));
    },
  };
}

const runningContainer = { ready: true, restartCount: 0, image: "", imageID: "", state: { running: {} } };

/** Returns the names of the claims, which are in the namespace of the pod: its own, those of templates, and that of its limits. */
export function claimNamesOf({ spec, status }: Pick<PodOnNode, "spec" | "status">): readonly string[] {
  const own = (spec.resourceClaims ?? []).flatMap(({ resourceClaimName }) => resourceClaimName ?? []);
  const ofTemplates = (status.resourceClaimStatuses ?? []).flatMap(({ resourceClaimName }) => resourceClaimName ?? []);
  const ofLimits = status.extendedResourceClaimStatus?.resourceClaimName ?? [];
  return [...new Set([...own, ...ofTemplates].concat(ofLimits))];
}

async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isKubeError(error, "NotFound", "Conflict")) throw error;
  }
}
