// SPDX-License-Identifier: Apache-2.0
/** The manifests of the demo of ResourceClaims, as docs/guide/dra.md has them. */
import { draDriverName } from "@switchyard/api";
import { namespace } from "@switchyard/test-cluster";

/** Gives the VFs of nodes with the label example.com/claims=yes to ResourceClaims. */
export const poolManifest = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkPoolConfig",
  metadata: { name: "claims", namespace },
  spec: { nodeSelector: { matchLabels: { "example.com/claims": "yes" } }, allocation: "dra" },
};

export interface ClaimOptions {
  /** Driver that the claim asks for. */
  readonly driver?: string;
  /** Number of the PF on its node. */
  readonly rail?: number;
  /** Name of the node on which the pod must run. */
  readonly nodeName?: string;
}

/** Returns a ResourceClaimTemplate for one VF of the resource "fast", and a pod with such a claim. Both have the name. */
export function claimManifests(name: string, { driver, rail, nodeName }: ClaimOptions): object {
  const parameters = { apiVersion: `${draDriverName}/v1alpha1`, kind: "VfConfig", driver };
  const expression = `device.attributes["${draDriverName}"].rail == ${rail}`;
  const exactly = {
    deviceClassName: "fast",
    ...(rail !== undefined && { selectors: [{ cel: { expression } }] }),
  };
  const devices = {
    requests: [{ name: "nic", exactly }],
    ...(driver !== undefined && { config: [{ opaque: { driver: draDriverName, parameters } }] }),
  };
  const metadata = { name, namespace: "default" };
  const template = {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaimTemplate",
    metadata,
    spec: { spec: { devices } },
  };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata,
    spec: {
      ...(nodeName !== undefined && { nodeSelector: { "kubernetes.io/hostname": nodeName } }),
      resourceClaims: [{ name: "vf", resourceClaimTemplateName: name }],
      containers: [{ name: "app", image: "registry.example/app:1", resources: { claims: [{ name: "vf" }] } }],
      terminationGracePeriodSeconds: 1,
    },
  };
  return { apiVersion: "v1", kind: "List", items: [template, pod] };
}

/** Returns a Deployment whose pods ask for a VF in their limits, as pods do that know nothing of claims. */
export function webManifest(replicas: number): object {
  const resources = { limits: { "openshift.io/fast": "1" } };
  const template = {
    metadata: { labels: { app: "web" } },
    spec: {
      containers: [{ name: "app", image: "registry.example/app:1", resources }],
      terminationGracePeriodSeconds: 1,
    },
  };
  const spec = { replicas, selector: { matchLabels: { app: "web" } }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "default" }, spec };
}
