// SPDX-License-Identifier: Apache-2.0
/**
 * settle plays the users of the cluster of upstream: it creates pools, policies, networks and a pod that must stay, and waits until each
 * node is in the state that go-nodes.ts names. allowEviction lets the pod go.
 */
import { nodes, pods as podType, sriovNetworkNodePolicies, sriovNetworkNodeStates } from "@switchyard/api";
import { collectionPath, objectPath } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { fieldAt, readIfThere } from "../src/api/plain-api.ts";
import type { FakeWorker } from "../src/nodes/fake-worker.ts";
import { upstream, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";
import { handshake } from "./go-daemon.ts";
import { createNetworks } from "./go-networks.ts";
import { goNodes, heldResource, type GoNode } from "./go-nodes.ts";

const within = { withinMs: 60_000 };
const held = { name: "held", namespace: "default" } as const;

/** Creates what users create, in the order in which upstream needs it, until each node is in its state. */
export async function settle(testCluster: UpstreamCluster, workers: ReadonlyMap<string, FakeWorker>): Promise<void> {
  const kernelOf = (name: string) => {
    const kernel = workers.get(name)?.kernel;
    if (kernel === undefined) throw new Error(`${name} has no kernel`);
    return kernel;
  };
  for (const { name, before } of goNodes) {
    if (name !== "infiniband") kernelOf(name).addRdmaDevice("mlx5_0"); // upstream's daemon loads the RDMA modules itself
    await before?.(kernelOf(name));
    await eventually(
      `upstream's daemon reports ${name}`,
      async () => {
        return (await interfacesOf(testCluster, name)).length > 0;
      },
      within,
    );
  }
  await untilWebhookReviews(testCluster);
  await createPools(testCluster);
  for (const node of goNodes) await applyPolicies(testCluster, node);
  for (const node of goNodes) await untilConfigured(testCluster, node);
  for (const { name, after } of goNodes) await after?.(kernelOf(name));
  await createNetworks(testCluster);
  await createHeldPod(testCluster);
  for (const { name, isCordoned } of goNodes) {
    if (isCordoned === true)
      await testCluster.as("kubectl-cordon").patch(nodes, name, { spec: { unschedulable: true } });
  }
  for (const node of goNodes) {
    if (node.grownTo !== undefined) await applyPolicies(testCluster, node, { numVfs: node.grownTo });
  }
  for (const { name, answer } of goNodes) {
    await eventually(
      `the operator's answer for ${name} is ${answer}`,
      async () => {
        return handshake(await testCluster.read(sriovNetworkNodeStates, name)).current === answer;
      },
      within,
    );
  }
}

/** A node must not be in two pools. Three nodes of the large one are drained at once, and one of them stays. */
async function createPools(testCluster: UpstreamCluster): Promise<void> {
  const key = "kubernetes.io/hostname";
  const own = goNodes.flatMap(({ name, pool }) => (pool === undefined ? [] : [{ name, pool }]));
  const others = { key, operator: "NotIn", values: own.map(({ name }) => name) };
  const isWorker = { key: "node-role.kubernetes.io/worker", operator: "Exists" };
  const pools = [
    { name: "workers", spec: { maxUnavailable: 3, nodeSelector: { matchExpressions: [isWorker, others] } } },
    ...own.map(({ name, pool }) => ({ name, spec: { ...pool, nodeSelector: { matchLabels: { [key]: name } } } })),
  ];
  for (const { name, spec } of pools) {
    const kind = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkPoolConfig" };
    await testCluster.kubectl(["apply", "-f", "-"], { ...kind, metadata: { name }, spec });
  }
}

/** The PFs that the node's daemon has reported. */
async function interfacesOf(testCluster: UpstreamCluster, name: string): Promise<readonly unknown[]> {
  const found = fieldAt(await testCluster.find(sriovNetworkNodeStates, name), "status", "interfaces");
  const interfaces: readonly unknown[] = Array.isArray(found) ? found : [];
  return interfaces;
}

/** Waits until upstream's webhook refuses what it must refuse. Before, its registration does not exist or is not served. */
async function untilWebhookReviews(testCluster: UpstreamCluster): Promise<void> {
  const metadata = { name: "review", namespace };
  const spec = { nodeSelector: {}, nicSelector: {}, numVfs: 1, resourceName: "not-allowed!" };
  const body = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodePolicy", metadata, spec };
  const path = collectionPath(sriovNetworkNodePolicies, namespace);
  await eventually(
    "upstream's webhook reviews policies",
    async () => {
      const answer = await testCluster.transport
        .request({ method: "POST", path, query: { dryRun: "All" }, body })
        .then(() => "admitted", String);
      return answer.includes("denied the request") || answer.includes("resource name");
    },
    within,
  );
}

/** Applies the node's policies together: upstream's operator would write a spec for each of them. */
async function applyPolicies(
  testCluster: UpstreamCluster,
  { name, policies }: GoNode,
  changed: { readonly numVfs?: number } = {},
): Promise<void> {
  const items = Object.entries(policies).map(([policy, spec]) => ({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name: policy },
    spec: { nodeSelector: { "kubernetes.io/hostname": name }, ...spec, ...changed },
  }));
  await testCluster.kubectl(["apply", "-f", "-"], { apiVersion: "v1", kind: "List", items });
}

async function untilConfigured(testCluster: UpstreamCluster, { name, policies }: GoNode): Promise<void> {
  const pfs = Object.values(policies).map(({ numVfs }) => numVfs);
  await eventually(
    `upstream's daemon has configured ${name}`,
    async () => {
      const found = (await interfacesOf(testCluster, name)).map((each) => fieldAt(each, "numVfs"));
      return pfs.every((numVfs) => found.includes(numVfs));
    },
    within,
  );
}

/** A pod with a VF that no eviction may remove, on the node that is drained. */
async function createHeldPod(testCluster: UpstreamCluster): Promise<void> {
  const labels = { app: held.name };
  const resources = {
    requests: { [`openshift.io/${heldResource}`]: "1" },
    limits: { [`openshift.io/${heldResource}`]: "1" },
  };
  await testCluster.as(upstream.user).create(podType, {
    metadata: { ...held, labels },
    spec: { nodeName: "draining", containers: [{ name: "app", image: "example.com/app:1", resources }] },
  });
  const path = objectPath(podType, held, "status");
  const conditions = [{ type: "Ready", status: "True" }];
  const body = { status: { phase: "Running", conditions } };
  const contentType = "application/merge-patch+json";
  await testCluster.transport.request({ method: "PATCH", path, contentType, body });
  await testCluster.kubectl(["apply", "-n", held.namespace, "-f", "-"], {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: held,
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  });
}

/** Removes the budget that holds up a drain, and then the evicted pod, as its kubelet does. */
export async function allowEviction(testCluster: UpstreamCluster): Promise<void> {
  await testCluster.kubectl(["delete", "pdb", held.name, "-n", held.namespace]);
  const path = objectPath(podType, held);
  await eventually(
    "the pod is evicted",
    async () => {
      const pod = await readIfThere(testCluster.transport, path);
      return fieldAt(pod, "metadata", "deletionTimestamp") !== undefined;
    },
    within,
  );
  const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 };
  await testCluster.transport.request({ method: "DELETE", path, body });
}
