// SPDX-License-Identifier: Apache-2.0
/**
 * A node moves to ResourceClaims and back under its pods, with a real scheduler and controller manager and three simulated nodes
 * (moving-node.ts). Pods ask for VFs by claims and by `resources.limits`. Meanwhile a Deployment grows by one pod after the other.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { connect, type Transport } from "@switchyard/kube";
import { renderDeviceClasses } from "@switchyard/render";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { keepNodesReady, type PodOnNode } from "@switchyard/test-cluster";
import { MovingNode, resource } from "./moving-node.ts";
import { listPods } from "./node-pods.ts";

const stack = new AsyncDisposableStack();
const vfsPerNode = 8;
const podsPerNode = 4;
const nodeNames = ["node-1", "node-2", "node-3"];
let cluster: ControlPlane;
let transport: Transport;
let moving: readonly MovingNode[];

beforeAll(async () => {
  cluster = stack.use(await startControlPlane({ scheduler: true }));
  transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
  await create(...nodeNames.map((name) => ({ apiVersion: "v1", kind: "Node", metadata: { name } })));
  stack.use(await keepNodesReady(transport, nodeNames));
  await create(...renderDeviceClasses({ prefix: "openshift.io", resourceNames: ["fast"] }));
  moving = nodeNames.map(
    (name) => new MovingNode({ transport, name, vfs: vfsPerNode, nowMs: () => performance.now() }),
  );
});
afterAll(async () => {
  await stack.disposeAsync();
});

describe("a node that moves to ResourceClaims and back", () => {
  it("gives VFs to unchanged pods in both worlds, restarts none, and never gives a VF twice", async () => {
    const [first] = moving;
    if (first === undefined) throw new RangeError();
    for (const name of nodeNames) await create(deployment(name, podsPerNode, { onNode: name }));
    await create(deployment("web", 0));
    await until("the pods of all nodes run", async () => (await runningPods()).size === 3 * podsPerNode);

    await restartingNone(async () => {
      first.want("dra");
      await until("free VFs are published", () => first.published.size === vfsPerNode - podsPerNode);
      await grow(4);
      await create(...claimPod("claimed"));
      await until("a pod with a claim runs beside pods of the plugin", () => isClaimed(first));
    });

    await scale("node-1", 0);
    await until("all VFs have moved", () => first.registered.size === 0 && first.published.size === vfsPerNode);
    await scale("node-1", podsPerNode);
    await until("unchanged pods run", () => count(first, "dra") === podsPerNode + 1);
    expect(count(first, "devicePlugin")).toBe(0);
    await grow(4);

    await restartingNone(async () => {
      first.want("devicePlugin");
      await until("free VFs have returned", () => first.registered.size + first.holders.size === vfsPerNode);
    });
    await cluster.kubectl(["delete", "pod", "claimed", "--wait=false"]);
    await scale("web", 0);
    await scale("node-1", 0);
    await until("all VFs have returned", () => first.registered.size === vfsPerNode && first.published.size === 0);
    await scale("node-1", podsPerNode);
    await grow(4);
    expect(count(first, "dra")).toBe(0);

    expect(moving.flatMap(({ violations }) => violations)).toEqual([]);
    expect(moving.reduce((sum, { moments }) => sum + moments, 0)).toBeGreaterThan(100);
    process.stderr.write(`seconds until each pod of the growing Deployment ran: ${startTimes().join(", ")}\n`);
  });
});

const startedAfterMs: number[] = [];
const startTimes = () => startedAfterMs.map((ms) => (ms / 1000).toFixed(1));

/** Lets all nodes work until the condition holds. */
async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  await eventually(
    what,
    async () => {
      for (const node of moving) await node.step();
      return holds();
    },
    { withinMs: 120_000 },
  );
}

/** Adds pods to the Deployment web, the next one when the last one runs. */
async function grow(by: number): Promise<void> {
  const before = await runningPods();
  const ofWeb = (pods: ReadonlyMap<string, PodOnNode>) =>
    [...pods.values()].filter(({ metadata }) => metadata.name.startsWith("web-")).length;
  const start = ofWeb(before);
  for (let replicas = start + 1; replicas <= start + by; replicas++) {
    const sinceMs = performance.now();
    await scale("web", replicas);
    await until(`${replicas} pods of web run`, async () => ofWeb(await runningPods()) === replicas);
    startedAfterMs.push(performance.now() - sinceMs);
  }
}

/** Reports a pod that ran before `act` and does not run after it. */
async function restartingNone(act: () => Promise<void>): Promise<void> {
  const before = await runningPods();
  await act();
  const after = await runningPods();
  expect([...before].filter(([uid]) => !after.has(uid)).map(([, { metadata }]) => metadata.name)).toEqual([]);
}

/** Pods that run, by uid. */
async function runningPods(): Promise<ReadonlyMap<string, PodOnNode>> {
  const found = await listPods(transport, {});
  const running = found.filter(
    ({ metadata, status }) => status.phase === "Running" && metadata.deletionTimestamp === undefined,
  );
  return new Map(running.map((pod) => [pod.metadata.uid, pod]));
}

const count = ({ holders }: MovingNode, world: "dra" | "devicePlugin") =>
  [...holders.values()].filter(({ via }) => via === world).length;
const isClaimed = (node: MovingNode) => count(node, "dra") > 0;
const scale = (name: string, replicas: number) =>
  cluster.kubectl(["scale", `deployment/${name}`, `--replicas=${replicas}`]);

async function create(...items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await cluster.kubectl(["create", "-f", "-"], { input });
}

/** A Deployment whose pods ask for a VF in their limits, as pods do that know nothing of claims. */
function deployment(name: string, replicas: number, { onNode }: { readonly onNode?: string } = {}): object {
  const container = { name: "app", image: "app", resources: { limits: { [resource]: "1" } } };
  const matchFields = [{ key: "metadata.name", operator: "In", values: [onNode] }];
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } };
  const template = {
    metadata: { labels: { app: name } },
    spec: {
      containers: [container],
      terminationGracePeriodSeconds: 0,
      ...(onNode === undefined ? {} : { affinity: { nodeAffinity } }),
    },
  };
  const spec = { replicas, selector: { matchLabels: { app: name } }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace: "default" }, spec };
}

/** A pod with a claim of its own for one VF. */
function claimPod(name: string): readonly object[] {
  const devices = { requests: [{ name: "vf", exactly: { deviceClassName: "fast" } }] };
  return [
    {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaimTemplate",
      metadata: { name, namespace: "default" },
      spec: { spec: { devices } },
    },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default" },
      spec: {
        terminationGracePeriodSeconds: 0,
        resourceClaims: [{ name: "vf", resourceClaimTemplateName: name }],
        containers: [{ name: "app", image: "app", resources: { claims: [{ name: "vf" }] } }],
      },
    },
  ];
}
