// SPDX-License-Identifier: Apache-2.0
/**
 * snapshotOffload reads everything that ovn-offload may change, so that a test can compare it with what was there before.
 */
import { isRecord } from "@switchyard/kube";
import type { TestCluster } from "@switchyard/test-cluster";
import { fieldAt } from "../src/api/plain-api.ts";

const lists = [
  "/api/v1/nodes",
  "/api/v1/namespaces/openshift-ovn-kubernetes/configmaps",
  "/api/v1/namespaces/openshift-network-operator/configmaps",
  "/api/v1/namespaces/ovn-kubernetes/configmaps",
  "/apis/sriovnetwork.openshift.io/v1/namespaces/sriov-network-operator/sriovnetworknodepolicies",
  "/apis/k8s.cni.cncf.io/v1/namespaces/default/network-attachment-definitions",
];

const openshiftLists = [
  "/apis/operator.openshift.io/v1/dnses",
  "/apis/machineconfiguration.openshift.io/v1/machineconfigs",
];

/** By path: labels, annotations, spec and data, without those of the machine config operator and the operator. */
export async function snapshotOffload(
  { transport }: TestCluster,
  { isOpenshift = true }: { readonly isOpenshift?: boolean } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const found: Record<string, unknown> = {};
  for (const path of [...lists, ...(isOpenshift ? openshiftLists : [])]) {
    const items = fieldAt(await transport.request({ method: "GET", path }), "items");
    for (const item of Array.isArray(items) ? (items as readonly unknown[]) : []) {
      const name = String(fieldAt(item, "metadata", "name"));
      if (name.startsWith("rendered-")) continue;
      found[`${path}/${name}`] = {
        labels: withoutForeign(fieldAt(item, "metadata", "labels")),
        annotations: withoutForeign(fieldAt(item, "metadata", "annotations")),
        spec: fieldAt(item, "spec"),
        data: fieldAt(item, "data"),
      };
    }
  }
  return found;
}

/** Names of the nodes in the ConfigMap ovn-management-ports of the namespace. */
export async function listPublished(
  { transport }: TestCluster,
  namespace = "openshift-ovn-kubernetes",
): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const items = fieldAt(await transport.request({ method: "GET", path }), "items");
  const found = (Array.isArray(items) ? (items as readonly unknown[]) : []).find((item) => {
    return fieldAt(item, "metadata", "name") === "ovn-management-ports";
  });
  const data = fieldAt(found, "data");
  return isRecord(data) ? Object.keys(data) : [];
}

/** Other programs change these while a test runs. */
const foreign = /^(machineconfiguration|sriovnetwork)\.openshift\.io\//;

function withoutForeign(texts: unknown): unknown {
  return isRecord(texts) ? Object.fromEntries(Object.entries(texts).filter(([key]) => !foreign.test(key))) : {};
}
