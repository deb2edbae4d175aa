// SPDX-License-Identifier: Apache-2.0
/**
 * The example of docs/typescript.md, which is the text below this comment; e2e/integration/kube/client-node.test.ts
 * runs it.
 */
import { KubernetesObjectApi, PatchStrategy, type KubeConfig, type V1ObjectMeta } from "@kubernetes/client-node";
import type { SriovNetworkNodePolicy, WithMetadata } from "@switchyard/api";

type Policy = WithMetadata<SriovNetworkNodePolicy, Partial<V1ObjectMeta>>;

/** Creates a policy with four VFs, then asks for eight. */
export async function growPolicy(kubeConfig: KubeConfig): Promise<Policy> {
  const api = KubernetesObjectApi.makeApiClient(kubeConfig);
  const policy: Policy = {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name: "fast", namespace: "sriov-network-operator" },
    spec: {
      resourceName: "fast",
      nodeSelector: { "node-role.kubernetes.io/worker": "" },
      nicSelector: { pfNames: ["ens1f0"] },
      numVfs: 4,
    },
  };
  const created = await api.create(policy);

  const larger = { ...policy, spec: { ...created.spec, numVfs: 8 } };
  return api.patch(larger, undefined, undefined, "example", undefined, PatchStrategy.MergePatch);
}
