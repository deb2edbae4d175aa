// SPDX-License-Identifier: Apache-2.0
/** createReviews builds AdmissionReviews of changes to policies, as the API server sends them. Pure. */
import { apiGroup, type SriovNetworkNodePolicy, type SriovNetworkNodePolicySpec } from "@switchyard/api";
import { firstPolicy, operatorNamespace } from "../fleet/fleet-objects.ts";
import { pfName, type FleetProfile } from "../fleet/fleet-profile.ts";

/** A review and its correct decision. */
export interface KnownReview {
  /** The body of the request. */
  readonly text: string;
  readonly allowed: boolean;
}

/** Builds a different review for each index, so that the webhook cannot use cached results. */
export interface Reviews {
  /** A valid new policy for all nodes. */
  creation(index: number): KnownReview;
  /** A changed numVfs in an existing policy for all nodes. */
  change(index: number): KnownReview;
  /** New policies. Every second one is invalid, for one of several reasons. */
  mixed(index: number): KnownReview;
}

export function createReviews(profile: FleetProfile): Reviews {
  // VFs of the second PF that no policy uses.
  const firstFree = profile.pfs > 2 ? 16 : 36;
  const free = 128 - firstFree;
  const fresh = (index: number, spec: Partial<SriovNetworkNodePolicySpec> = {}): SriovNetworkNodePolicy => {
    const vf = firstFree + (index % free);
    const old = firstPolicy(1);
    return {
      ...old,
      metadata: { ...old.metadata, name: `new-${index}` },
      spec: {
        ...old.spec,
        resourceName: `new${index}`,
        numVfs: 128,
        nicSelector: { pfNames: [`${pfName(1)}#${vf}-${vf}`] },
        ...spec,
      },
    };
  };
  const creation = (index: number, spec?: Partial<SriovNetworkNodePolicySpec>) =>
    reviewOf(`creation-${index}`, { object: fresh(index, spec) });

  return {
    creation: (index) => ({ text: creation(index), allowed: true }),
    change(index) {
      const oldObject = firstPolicy(profile.numVfs);
      const numVfs = 1 + (index % (profile.numVfs - 1));
      const object = { ...oldObject, spec: { ...oldObject.spec, numVfs, mtu: 1500 + (index % 7) } };
      return { text: reviewOf(`change-${index}`, { object, oldObject }), allowed: true };
    },
    mixed(index) {
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

interface Objects {
  readonly object: SriovNetworkNodePolicy;
  readonly oldObject?: SriovNetworkNodePolicy;
}

function reviewOf(uid: string, { object, oldObject }: Objects): string {
  const { name } = object.metadata;
  const resource = { group: apiGroup, version: "v1", resource: "sriovnetworknodepolicies" };
  const kind = { group: apiGroup, version: "v1", kind: "SriovNetworkNodePolicy" };
  const request = {
    uid,
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name,
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
