// SPDX-License-Identifier: Apache-2.0
/**
 * simulateWorkloads lets the cluster of the demo have the pods that a real one has: the demo runs its programs as processes, so
 * without this `switchyard doctor` would report that no program runs. It plays the DaemonSet controller and the kubelets.
 * Usage: `Object.assign(process.env, demoImages());` before the operator starts, then `await simulateWorkloads(testCluster)`.
 */
import { nodes, pods } from "@switchyard/api";
import {
  collectionPath,
  isKubeError,
  objectPath,
  watchObjects,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";
import { componentImageVariables } from "@switchyard/render";
import { namespace, type TestCluster } from "@switchyard/test-cluster";

const daemonSets = { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true } as const;
const deployments = { ...daemonSets, kind: "Deployment", plural: "deployments" } as const;
const operatorName = "sriov-network-operator";
/** As the chart names it for the release of the README. */
const deploymentName = `switchyard-${operatorName}`;

type Labels = Readonly<Record<string, string>>;

/** The fields of a DaemonSet in use. */
interface DaemonSet extends KubeObject {
  readonly metadata: KubeObject["metadata"] & { readonly uid?: string; readonly generation?: number };
  readonly spec?: {
    readonly template?: {
      readonly metadata?: { readonly labels?: Labels };
      readonly spec?: { readonly nodeSelector?: Labels };
    };
  };
}

interface NewPod {
  readonly name: string;
  readonly labels: Labels;
  readonly nodeName?: string;
  readonly owner?: { readonly name: string; readonly uid: string };
}

/** References of images that nothing pulls, so that the operator deploys what it deploys in a real cluster. */
export function demoImages(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.values(componentImageVariables).map((variable) => [variable, `demo/${variable}`]));
}

/** Creates the operator's Deployment, and from now on the pods of DaemonSets, until the test cluster ends. */
export async function simulateWorkloads(testCluster: TestCluster): Promise<void> {
  const { transport } = testCluster;
  const { metadata, labels: ofOperator } = await createOperator(transport);
  const status = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, observedGeneration: 1 };
  await patchStatus(transport, objectPath(deployments, metadata, "status"), status);
  await createPod(transport, { name: `${deploymentName}-0`, labels: ofOperator });
  const nodeCache = testCluster.use(
    watchObjects({ transport, type: nodes, report: () => undefined, project: (node: KubeObject) => node }),
  );
  const sets = testCluster.use(
    watchObjects({ transport, namespace, type: daemonSets, report: () => undefined, project: (set: DaemonSet) => set }),
  );
  const settleAll = (): void => {
    for (const set of sets.list()) void unlessGone(settle(set));
  };
  sets.subscribe(settleAll);
  nodeCache.subscribe(({ before, after }) => {
    // The status of a node changes often, and its labels decide which pods it has.
    if (JSON.stringify(before?.metadata.labels) !== JSON.stringify(after?.metadata.labels)) settleAll();
  });

  async function settle(set: DaemonSet): Promise<void> {
    const { name, uid = "", generation = 1 } = set.metadata;
    const selector = set.spec?.template?.spec?.nodeSelector ?? {};
    const labels = set.spec?.template?.metadata?.labels ?? {};
    const selected = nodeCache.list().filter(({ metadata }) => hasLabels(metadata.labels ?? {}, selector));
    for (const { metadata } of selected) {
      const pod = { name: `${name}-${metadata.name}`, labels, nodeName: metadata.name, owner: { name, uid } };
      await createPod(transport, pod);
    }
    const names = new Set(selected.map(({ metadata }) => `${name}-${metadata.name}`));
    for (const { metadata } of nodeCache.list()) {
      const left = { name: `${name}-${metadata.name}`, namespace };
      if (!names.has(left.name)) await deletePod(transport, left);
    }
    const count = selected.length;
    const counts = { desiredNumberScheduled: count, currentNumberScheduled: count, updatedNumberScheduled: count };
    const ready = { numberReady: count, numberAvailable: count, numberMisscheduled: 0, observedGeneration: generation };
    await patchStatus(transport, objectPath(daemonSets, set.metadata, "status"), { ...counts, ...ready });
  }
}

/** Creates the Deployment of the operator. Where a controller manager runs, it gets a pod. */
export async function createOperator(transport: Transport) {
  const labels = { name: operatorName, "app.kubernetes.io/name": "switchyard" };
  const template = { metadata: { labels }, spec: { containers: [{ name: operatorName, image: "demo/operator" }] } };
  const metadata = { name: deploymentName, namespace, labels };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  const body = { apiVersion: "apps/v1", kind: "Deployment", metadata, spec };
  await transport.request({ method: "POST", path: collectionPath(deployments, namespace), body });
  return { metadata, labels };
}

async function createPod(transport: Transport, { name, labels, nodeName, owner }: NewPod): Promise<void> {
  const ownerReferences =
    owner === undefined ? [] : [{ apiVersion: "apps/v1", kind: "DaemonSet", controller: true, ...owner }];
  const metadata = { name, namespace, labels, ownerReferences };
  const containers = [{ name: "main", image: "demo/main" }];
  const spec = { ...(nodeName !== undefined && { nodeName }), containers, terminationGracePeriodSeconds: 0 };
  const body = { apiVersion: "v1", kind: "Pod", metadata, spec };
  try {
    await transport.request({ method: "POST", path: collectionPath(pods, namespace), body });
  } catch (error) {
    if (isKubeError(error, "AlreadyExists")) return;
    throw error;
  }
  const conditions = [{ type: "Ready", status: "True" }];
  const running = { startedAt: new Date().toISOString().replace(/\.\d+/, "") };
  const containerStatuses = [
    { name: "main", image: "demo/main", imageID: "", ready: true, restartCount: 0, state: { running } },
  ];
  await patchStatus(transport, objectPath(pods, metadata, "status"), {
    phase: "Running",
    conditions,
    containerStatuses,
  });
}

async function deletePod(
  transport: Transport,
  pod: { readonly name: string; readonly namespace: string },
): Promise<void> {
  try {
    await transport.request({ method: "DELETE", path: objectPath(pods, pod) });
  } catch (error) {
    if (!isKubeError(error, "NotFound")) throw error;
  }
}

async function patchStatus(transport: Transport, path: string, status: object): Promise<void> {
  const contentType = "application/merge-patch+json";
  await transport.request({ method: "PATCH", path, contentType, body: { status } });
}

function hasLabels(labels: Labels, selector: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** An object can be deleted, or the cluster end, while its pods are made. */
async function unlessGone(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isKubeError(error)) throw error;
  }
}
