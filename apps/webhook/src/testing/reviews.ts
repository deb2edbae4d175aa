// SPDX-License-Identifier: Apache-2.0
/** Builders of AdmissionReviews as the API server sends them, and a reader of the answers. */
import { expect } from "@jest/globals";
import { createStateReader, emptyView, type ClusterView } from "@switchyard/admission";
import { namespace, type Answer } from "./review-client.ts";

/** An AdmissionReview of one of Switchyard's kinds. */
export function review(
  kind: string,
  operation: string,
  objects: { readonly object?: unknown; readonly oldObject?: unknown },
) {
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "705ab4f5-6393-11e8-b7cc-42010a800002",
      kind: kind.startsWith("Afxdp")
        ? { group: "afxdpnetwork.hns.dev", version: "v1alpha1", kind }
        : { group: "sriovnetwork.openshift.io", version: "v1", kind },
      operation,
      name: "p1",
      namespace,
      userInfo: { username: "jane" },
      object: null,
      oldObject: null,
      ...objects,
    },
  };
}

/** Four VFs of ens1f0, on all nodes. */
export function policy(name: string, spec: object = {}) {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name, namespace },
    spec: {
      resourceName: "fast",
      nodeSelector: { "kubernetes.io/os": "linux" },
      numVfs: 4,
      nicSelector: { pfNames: ["ens1f0"] },
      ...spec,
    },
  };
}

/** The review of a new policy. */
export const createPolicy = (name: string, spec?: object) =>
  review("SriovNetworkNodePolicy", "CREATE", { object: policy(name, spec) });

/** Two nodes, each with a PF of at most 64 VFs. */
export function twoNodes(): ClusterView {
  const read = createStateReader();
  const pf = { pciAddress: "0000:3b:00.0", name: "ens1f0", vendor: "8086", deviceID: "158b", totalvfs: 64 };
  const nodes = ["w1", "w2"].map((name) => ({
    name,
    labels: { worker: "", "kubernetes.io/os": "linux" },
    state: read({ status: { interfaces: [pf] } }),
  }));
  return { ...emptyView(namespace), nodes };
}

/** The fields of AdmissionReview.response that tests use. */
export interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: {
    readonly message: string;
    readonly code: number;
    readonly details: { readonly causes: unknown[] };
  };
  readonly warnings?: readonly string[];
  readonly patch?: string;
}

/** The response in a well-formed answer. Fails the test if the answer has another form. */
export function responseOf({ status, body }: Answer): Response {
  expect(status).toBe(200);
  const parsed = JSON.parse(body) as { apiVersion: string; kind: string; response: Response };
  expect(parsed).toMatchObject({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" });
  expect(typeof parsed.response.allowed).toBe("boolean");
  return parsed.response;
}
