// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, taints, type OwnerReference } from "@switchyard/api";
import { toDrainedPod } from "./drained-pod.ts";

const asks = (requests: object) => ({ containers: [{ resources: { requests } }] });

function facts(spec: unknown, metadata: object = {}, phase = "Running") {
  const pod = { metadata: { name: "web", namespace: "apps", uid: "u", ...metadata }, spec, status: { phase } };
  return toDrainedPod(pod, "openshift.io");
}

describe("toDrainedPod", () => {
  it.each([
    { what: "a resource of a policy that is gone", spec: asks({ "openshift.io/old": 2 }), holds: true },
    { what: "AF_XDP devices", spec: asks({ "afxdp/fast": 1 }), holds: true },
    { what: "a request for 0", spec: asks({ "openshift.io/fast": "0m" }), holds: false },
    { what: "cpu", spec: asks({ cpu: "1" }), holds: false },
    { what: "no spec", spec: undefined, holds: false },
  ])("counts $what as use of VFs: $holds", ({ spec, holds }) => {
    expect(facts(spec)).toMatchObject({ holdsVfs: holds, claims: [] });
  });

  it("contains the names of the claims", () => {
    const spec = { resourceClaims: [{ name: "nic", resourceClaimName: "shared" }] };
    expect(facts(spec)).toMatchObject({ holdsVfs: false, claims: ["shared"] });
  });

  it("distinguishes pods of DaemonSets and mirror pods from other pods", () => {
    const owner = (kind: string): OwnerReference => ({ apiVersion: "v1", kind, name: "o", uid: "o", controller: true });
    const mirror = { annotations: { [annotations.mirrorPod]: "hash" }, ownerReferences: [owner("Node")] };
    const kinds = [
      facts({}, { ownerReferences: [owner("DaemonSet")] }),
      facts({}, { ownerReferences: [owner("ReplicaSet")] }),
      facts({}, mirror),
      facts({}),
    ].map(({ kind }) => kind);
    expect(kinds).toEqual(["daemon-set", "other", "mirror", "other"]);
  });

  it("reads malformed pods as pods without VFs that leave before a reboot", () => {
    const metadata = { annotations: "x", ownerReferences: [null, { kind: "DaemonSet" }], finalizers: [1] };
    const pods = [undefined, "pod", { metadata, spec: { tolerations: [null, 7], containers: {} } }];
    for (const pod of pods) {
      expect(toDrainedPod(pod, "openshift.io")).toMatchObject({
        namespace: "",
        finalizers: [],
        isFinished: false,
        kind: "other",
        holdsVfs: false,
        toleratesDrain: false,
      });
    }
  });

  it("recognises finished and terminating pods", () => {
    expect(["Running", "Pending", "Succeeded", "Failed"].map((phase) => facts({}, {}, phase).isFinished)).toEqual([
      false,
      false,
      true,
      true,
    ]);
    const end = { deletionTimestamp: "2026-11-20T12:00:30Z", finalizers: ["example.com/keep"] };
    expect(facts({}, end)).toMatchObject({ endsBy: "2026-11-20T12:00:30Z", finalizers: ["example.com/keep"] });
    expect(facts({})).toMatchObject({ endsBy: undefined, finalizers: [] });
  });

  it.each([
    { toleration: { operator: "Exists" }, tolerates: true },
    { toleration: { operator: "Exists", effect: "NoSchedule" }, tolerates: true },
    { toleration: { key: taints.draining, operator: "Exists" }, tolerates: true },
    { toleration: { key: taints.draining }, tolerates: true },
    { toleration: { operator: "Exists", effect: "NoExecute" }, tolerates: false },
    { toleration: { key: "node.kubernetes.io/unschedulable", operator: "Exists" }, tolerates: false },
    { toleration: { key: taints.draining, value: "other" }, tolerates: false },
  ])("counts $toleration as tolerating the drain taint: $tolerates", ({ toleration, tolerates }) => {
    expect(facts({ tolerations: [toleration] }).toleratesDrain).toBe(tolerates);
  });
});
