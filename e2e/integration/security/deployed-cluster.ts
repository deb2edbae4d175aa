// SPDX-License-Identifier: Apache-2.0
/**
 * A real API server with the operator's identity, three nodes, and all objects of all components as rendered. No
 * component is running.
 */
import { connect, createWriter, type KubeObject, type Transport } from "@switchyard/kube";
import { afxdpComponents, operatorIdentity, renderComponents, resourceTypeOf, type Manifest } from "@switchyard/render";
import { startControlPlane, type ControlPlane } from "@switchyard/testing";
import { crdFolder } from "../../src/crds/crd-objects.ts";
import {
  componentSettings as settings,
  everyComponent,
  monitoringCrds,
  namespace,
} from "../../src/operator/identity-objects.ts";

/** What a token is bound to: the pod with this name, or a pod on the node with this name, as the kubelet requests it. */
export type Bound = string | { readonly pod: string };

/** The cluster and its rendered objects. Disposing it stops the API server. */
export interface DeployedCluster extends AsyncDisposable {
  readonly cluster: ControlPlane;
  /** The objects of all components, in the order of their deployment. */
  readonly manifests: readonly Manifest[];
  /** A transport with the operator's token. */
  readonly operator: Transport;
  /** Applies the object with the operator's token. */
  apply(manifest: Manifest): Promise<string>;
  create(objects: readonly object[]): Promise<void>;
  /** Returns the path of a kubeconfig with a token of this service account. */
  kubeconfigOf(serviceAccount: string, bound?: Bound): Promise<string>;
  clientOf(serviceAccount: string, bound?: Bound): Promise<Transport>;
}

/** Starts the API server and creates everything that exists before the operator deploys its components. */
export async function prepareCluster(): Promise<DeployedCluster> {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(await startControlPlane());
  const create = async (objects: readonly object[]) => {
    const list = { apiVersion: "v1", kind: "List", items: objects };
    await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(list) });
  };
  const pods = new Map<string, Promise<string>>();
  /** Returns the name of a pod of the account on the node. Before 1.31, a token cannot be bound to a Node. */
  async function podOn(nodeName: string, serviceAccountName: string): Promise<string> {
    const name = `${serviceAccountName}-of-${nodeName}`;
    const spec = { nodeName, serviceAccountName, containers: [{ name: "main", image: "none" }] };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec };
    const created = pods.get(name) ?? create([pod]).then(() => name);
    pods.set(name, created);
    return created;
  }
  async function kubeconfigOf(serviceAccount: string, bound?: Bound): Promise<string> {
    const name = typeof bound === "string" ? await podOn(bound, serviceAccount) : bound?.pod;
    const flags = name === undefined ? [] : ["--bound-object-kind=Pod", `--bound-object-name=${name}`];
    const token = await cluster.kubectl(["create", "token", serviceAccount, "-n", namespace, ...flags]);
    return cluster.clientFor({ token: token.trim() });
  }

  await cluster.applyCrds(crdFolder);
  await create([
    ...monitoringCrds,
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    ...operatorIdentity(settings),
    ...["worker-1", "worker-2", "worker-3"].map((name) => ({ apiVersion: "v1", kind: "Node", metadata: { name } })),
    ...["worker-1", "worker-2"].map((name) => nodeState(name, largestSpec)),
    ...["worker-1", "worker-2"].map((name) => afxdpNodeState(name)),
    nodeState("worker-3", { interfaces: [{ pciAddress: "0000:01:00.0", numVfs: 2 }] }),
    everyComponent,
  ]);
  await cluster.kindsServed();
  const path = ["get", "sriovoperatorconfig", "default", "-n", namespace, "-o", "jsonpath={.metadata.uid}"];
  const metadata = { ...everyComponent.metadata, uid: await cluster.kubectl(path) };
  const afxdp = { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind: "AfxdpOperatorConfig", metadata } as const;
  const sriov = { ...everyComponent, metadata };
  const { components } = renderComponents({ sriov, afxdp }, { ...settings, usesClaims: true });
  const withUpstream = renderComponents({ sriov, afxdp: { ...afxdp, spec: { provider: "upstream" } } }, settings);
  const upstreamPlugins = withUpstream.components.filter(({ name }) => name === afxdpComponents.upstream);
  const operator = stack.use(await connect({ kubeconfig: await kubeconfigOf("switchyard-operator") }));

  return {
    cluster,
    create,
    kubeconfigOf,
    operator,
    manifests: [...components, ...upstreamPlugins].flatMap(({ objects }) => objects),
    async apply(manifest) {
      const { apiVersion: _, kind: _kind, ...intent } = manifest;
      const writer = { transport: operator, type: resourceTypeOf(manifest), manager: "switchyard-components" };
      return createWriter<KubeObject>(writer).apply(intent);
    },
    clientOf: async (...of) => connect({ kubeconfig: await kubeconfigOf(...of) }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The largest spec to expect: 8 PFs with 32 VF groups each. */
const largestSpec = {
  interfaces: Array.from({ length: 8 }, (_, pf) => ({
    pciAddress: `0000:3b:00.${pf}`,
    name: `ens1f${pf}`,
    numVfs: 32,
    vfGroups: Array.from({ length: 32 }, (_, vf) => {
      return { resourceName: `vfs${vf}`, vfRange: `${vf}-${vf}`, policyName: `policy-${vf}`, deviceType: "netdevice" };
    }),
  })),
};

function nodeState(name: string, spec: object) {
  const metadata = { name, namespace };
  return { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodeState", metadata, spec };
}

function afxdpNodeState(name: string) {
  const metadata = { name, namespace };
  return { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind: "AfxdpNetworkNodeState", metadata, spec: {} };
}
