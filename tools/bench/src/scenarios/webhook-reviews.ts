// SPDX-License-Identifier: Apache-2.0
/** AdmissionReviews of changes to policies, and their answers. */
import { apiGroup, type SriovNetworkNodePolicySpec } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { firstPolicy, operatorNamespace, pfName, type FleetProfile } from "../cluster/nodes.ts";
import type { PlainClient } from "../cluster/plain-client.ts";
import { BenchError } from "../harness/run.ts";

/** A review and its correct decision. */
export interface KnownReview {
  /** The body of the request. */
  readonly text: string;
  readonly allowed: boolean;
}

export type Reviews = ReturnType<typeof createReviews>;

/** Builds a different review for each index, so that the webhook cannot use cached results. */
export function createReviews(profile: FleetProfile) {
  // VFs of the second PF that no policy uses.
  const firstFree = profile.pfs > 2 ? 16 : 36;
  const free = 128 - firstFree;
  const creation = (index: number, more: Partial<SriovNetworkNodePolicySpec> = {}) => {
    const vf = firstFree + (index % free);
    const { metadata, spec } = firstPolicy(128);
    const nicSelector = { pfNames: [`${pfName(1)}#${vf}-${vf}`] };
    const object = {
      metadata: { ...metadata, name: `new-${index}` },
      spec: { ...spec, resourceName: `new${index}`, nicSelector, ...more },
    };
    return reviewOf(`creation-${index}`, { object });
  };

  return {
    /** A valid new policy for all nodes. */
    creation: (index: number): KnownReview => ({ text: creation(index), allowed: true }),
    /** A changed numVfs in an existing policy for all nodes. */
    change(index: number): KnownReview {
      const oldObject = firstPolicy(profile.numVfs);
      const numVfs = 1 + (index % (profile.numVfs - 1));
      const object = { ...oldObject, spec: { ...oldObject.spec, numVfs, mtu: 1500 + (index % 7) } };
      return { text: reviewOf(`change-${index}`, { object, oldObject }), allowed: true };
    },
    /** New policies. Every second one is invalid, for one of several reasons. */
    mixed(index: number): KnownReview {
      const wrong = wrongs[(index >> 1) % wrongs.length];
      return index % 2 === 0 || wrong === undefined
        ? { text: creation(index), allowed: true }
        : { text: creation(index, wrong), allowed: false };
    },
  };
}

/** Specs that are invalid because of the nodes or of other policies. */
const wrongs: readonly Partial<SriovNetworkNodePolicySpec>[] = [
  { numVfs: 129 },
  { nicSelector: { pfNames: [`${pfName(0)}#0-3`] } },
  { nicSelector: { pfNames: ["ens99f0"] } },
  { mtu: 60_000 },
  { vdpaType: "virtio", eSwitchMode: "switchdev" },
  { resourceName: "resource0", excludeTopology: true },
];

type Policy = ReturnType<typeof firstPolicy>;

function reviewOf(uid: string, objects: { readonly object: Policy; readonly oldObject?: Policy }): string {
  const head = { apiVersion: `${apiGroup}/v1`, kind: "SriovNetworkNodePolicy" };
  const object = { ...head, ...objects.object };
  const oldObject = objects.oldObject && { ...head, ...objects.oldObject };
  const resource = { group: apiGroup, version: "v1", resource: "sriovnetworknodepolicies" };
  const kind = { group: apiGroup, version: "v1", kind: "SriovNetworkNodePolicy" };
  const request = {
    uid,
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name: object.metadata.name,
    namespace: operatorNamespace,
    operation: oldObject === undefined ? "CREATE" : "UPDATE",
    userInfo: { username: "jane", groups: ["team-network", "system:authenticated"] },
    object,
    oldObject: oldObject ?? null,
    dryRun: false,
    options: { kind: oldObject === undefined ? "CreateOptions" : "UpdateOptions", apiVersion: "meta.k8s.io/v1" },
  };
  return JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request });
}

export interface ReviewAnswer {
  /** Milliseconds from the first byte of the request to the last byte of the answer. */
  readonly ms: number;
  readonly allowed: boolean;
  /** The decision with its reasons, as text. */
  readonly decision: string;
  /** The warnings, which are not part of the decision: the webhook omits those that take too long. */
  readonly warnings: string;
}

/** Sends a review as the API server does. Rejects with BenchError `refused` if the answer is not an AdmissionReview. */
export async function askReview(client: PlainClient, path: string, text: string): Promise<ReviewAnswer> {
  const beginMs = performance.now();
  const answer = await client.request({ method: "POST", path, body: text });
  const ms = performance.now() - beginMs;
  const review: unknown = JSON.parse(answer);
  const response = isRecord(review) ? review["response"] : undefined;
  if (!isRecord(response) || typeof response["allowed"] !== "boolean")
    throw new BenchError("refused", `the webhook answered a review with ${answer.slice(0, 500)}`);
  const { allowed, warnings = [], status: why } = response;
  return { ms, allowed, decision: JSON.stringify([allowed, why]), warnings: JSON.stringify(warnings) };
}
