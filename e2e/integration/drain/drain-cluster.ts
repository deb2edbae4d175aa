// SPDX-License-Identifier: Apache-2.0
/**
 * DrainCluster is a real API server with a controller manager and the operator as a process with its rights in a cluster.
 * The test plays the kubelets and the config daemons.
 */
import {
  annotations,
  nodes as nodeType,
  pods as podType,
  sriovNetworkNodeStates,
  type DrainRequest,
  type Node,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import {
  collectionPath,
  connect,
  isKubeError,
  objectPath,
  patchMetadata,
  watchObjects,
  type Cache,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";
import { operatorIdentity } from "@switchyard/render";
import {
  eventually,
  spawnGuarded,
  startControlPlane,
  type ControlPlane,
  type GuardedProcess,
} from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { crdFolder } from "../../src/crds/crd-objects.ts";
import { componentSettings, namespace } from "../../src/operator/identity-objects.ts";
import { deployedOperatorArguments } from "../../src/operator/operator-command.ts";

/** The namespace of the pods that are drained. */
export const appsNamespace = "apps";

/** A pod. */
export interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}

/** What a new pod has. */
export interface PodOptions {
  readonly node: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Requests of the only container. */
  readonly requests?: Readonly<Record<string, string>>;
  /** Requests of the init container; absent if the pod has none. */
  readonly initRequests?: Readonly<Record<string, string>>;
  /** Name of a ResourceClaim of the pod. */
  readonly claim?: string;
}

/** A cluster with the operator. Disposing it ends all processes. */
export interface DrainCluster extends AsyncDisposable {
  readonly cluster: ControlPlane;
  readonly transport: Transport;
  readonly nodes: Cache<Node>;
  readonly states: Cache<SriovNetworkNodeState>;
  readonly pods: Cache<Pod>;
  /** The operator's answers to drain requests, in the order in which the API server stored them. */
  readonly answers: readonly { readonly node: string; readonly answer: string; readonly atMs: number }[];
  /** Creates a worker node, and waits until the operator has created its node state and answered Idle. */
  addNode(name: string, labels?: Readonly<Record<string, string>>): Promise<void>;
  /** Deletes nodes and their node states. */
  removeNodes(...names: readonly string[]): Promise<void>;
  addPod(name: string, options: PodOptions): Promise<void>;
  addPool(name: string, spec: object): Promise<void>;
  /** Requests a drain, as the node's daemon does. */
  ask(node: string, request: DrainRequest): Promise<void>;
  answerOf(node: string): string | undefined;
  /** Waits until the operator's answer is `answer`. */
  answered(node: string, answer: string): Promise<void>;
  /** "status reason: message" of a condition of the node state; "" if the condition does not exist. */
  condition(node: string, type: string): string;
  apply(object: object): Promise<void>;
  killOperator(): Promise<void>;
  startOperator(): Promise<void>;
}

/** Starts the control plane and the operator. Rejects if one of them cannot be started. */
export async function startDrainCluster(): Promise<DrainCluster> {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(await startControlPlane({ controllerManager: true }));
  await cluster.applyCrds(crdFolder);
  const transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" }));
  const apply = async (object: object): Promise<void> => {
    await cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify(object) });
  };
  for (const name of [namespace, appsNamespace]) await cluster.kubectl(["create", "namespace", name]);
  await apply({ apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) });
  await apply({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace },
  });
  await eventually("service accounts", () =>
    cluster.kubectl(["get", "serviceaccount", "default", "-n", appsNamespace, "-o", "name"]),
  );

  const watching = { transport, report: () => undefined };
  const nodes = stack.use(watchObjects({ ...watching, type: nodeType, project: (node: Node) => node }));
  const pods = stack.use(
    watchObjects({ ...watching, type: podType, namespace: appsNamespace, project: (pod: Pod) => pod }),
  );
  const states = stack.use(
    watchObjects({
      ...watching,
      type: sriovNetworkNodeStates,
      namespace,
      project: (state: SriovNetworkNodeState) => state,
    }),
  );
  const answers: { node: string; answer: string; atMs: number }[] = [];
  const answerIn = (state?: SriovNetworkNodeState) => state?.metadata.annotations?.[annotations.currentState];
  states.subscribe(({ key, before, after }) => {
    const answer = answerIn(after) ?? "none";
    if (answer !== (answerIn(before) ?? "none")) answers.push({ node: key, answer, atMs: performance.now() });
  });
  simulateKubelets(pods, transport);

  const operatorLog = join(cluster.dataDir, "operator.log");
  let operator: GuardedProcess | undefined;
  stack.defer(async () => operator?.kill());
  async function startOperator(): Promise<void> {
    const cache = `NODE_COMPILE_CACHE=${join(cluster.dataDir, "compile-cache")}`;
    const args = [cache, process.execPath, ...(await deployedOperatorArguments(cluster))];
    operator = spawnGuarded("/usr/bin/env", args, { log: operatorLog });
  }
  await startOperator();

  const testCluster: Omit<DrainCluster, keyof AsyncDisposable> = {
    cluster,
    transport,
    nodes,
    states,
    pods,
    answers,
    apply,
    startOperator,

    async addNode(name, labels = {}) {
      const all = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "", ...labels };
      const body = { apiVersion: "v1", kind: "Node", metadata: { name, labels: all } };
      await transport.request({ method: "POST", path: collectionPath(nodeType), body });
      await eventually(`a state for ${name}`, () => states.get(name) !== undefined);
      await transport.request({
        method: "PATCH",
        path: objectPath(sriovNetworkNodeStates, { name, namespace }, "status"),
        contentType: "application/merge-patch+json",
        body: { status: { interfaces: [{ pciAddress: "0000:3b:00.0" }] } }, // the daemon's first report
      });
      await testCluster.answered(name, "Idle");
    },

    async removeNodes(...names) {
      for (const name of names) {
        for (const [type, place] of [
          [nodeType, { name }],
          [sriovNetworkNodeStates, { name, namespace }],
        ] as const) {
          await transport.request({ method: "DELETE", path: objectPath(type, place) });
        }
      }
    },

    async addPod(name, { node, labels = {}, requests = {}, initRequests, claim }) {
      const container = (of: string, resources: object) => ({
        name: of,
        image: "example.com/none:1",
        resources: { requests: resources, limits: resources },
      });
      const body = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: appsNamespace, labels },
        spec: {
          nodeName: node,
          terminationGracePeriodSeconds: 30,
          containers: [container("main", requests)],
          ...(initRequests === undefined ? {} : { initContainers: [container("init", initRequests)] }),
          ...(claim === undefined ? {} : { resourceClaims: [{ name: "nic", resourceClaimName: claim }] }),
        },
      };
      await transport.request({ method: "POST", path: collectionPath(podType, appsNamespace), body });
      await run(transport, { name, namespace: appsNamespace });
    },

    addPool: (name, spec) =>
      apply({
        apiVersion: "sriovnetwork.openshift.io/v1",
        kind: "SriovNetworkPoolConfig",
        metadata: { name, namespace },
        spec,
      }),

    async ask(name, request) {
      const objects = [
        { type: sriovNetworkNodeStates, metadata: { name, namespace }, annotation: annotations.desiredState },
        { type: nodeType, metadata: { name }, annotation: annotations.nodeState },
      ];
      for (const { type, metadata, annotation } of objects) {
        await patchMetadata({ transport, type, object: { metadata }, annotations: { [annotation]: request } });
      }
    },

    answerOf: (name) => answerIn(states.get(name)),

    async answered(name, answer) {
      try {
        await eventually(`${name} ${answer}`, () => testCluster.answerOf(name) === answer);
      } catch (error) {
        const { status, metadata } = states.get(name) ?? {};
        const found = JSON.stringify({ conditions: status?.conditions, annotations: metadata?.annotations });
        const log = await readFile(operatorLog, "utf8");
        throw new Error(`${name} is not ${answer}: ${found}\n${log.slice(-3_000)}`, { cause: error });
      }
    },

    condition(name, type) {
      const found = states.get(name)?.status?.conditions?.find((condition) => condition.type === type);
      return found === undefined ? "" : `${found.status} ${found.reason}: ${found.message}`;
    },

    async killOperator() {
      await operator?.kill();
      operator = undefined;
    },
  };
  return { ...testCluster, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Marks a pod as running, because PodDisruptionBudgets ignore pending pods. */
export async function run(transport: Transport, pod: { readonly name: string; readonly namespace: string }) {
  await transport.request({
    method: "PATCH",
    path: objectPath(podType, pod, "status"),
    contentType: "application/merge-patch+json",
    body: { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
  });
}

/** Removes deleted pods at once, as kubelets do after the containers have ended. */
function simulateKubelets(pods: Cache<Pod>, transport: Transport): void {
  pods.subscribe(({ after }) => {
    if (after?.metadata.deletionTimestamp === undefined) return;
    const { name, namespace = "", uid } = after.metadata;
    const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid } };
    transport
      .request({ method: "DELETE", path: objectPath(podType, { name, namespace }), body })
      .catch((error: unknown) => {
        if (!isKubeError(error)) throw error; // the pod is gone, or the cluster is stopping
      });
  });
}
