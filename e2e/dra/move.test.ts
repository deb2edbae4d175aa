// SPDX-License-Identifier: Apache-2.0
/**
 * A node moves to ResourceClaims and back under its pods, with a real scheduler and controller manager and three simulated nodes
 * (moving-node.ts). Pods ask for VFs by claims and by `resources.limits`.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { pods } from "@switchyard/api";
import { connect, listPages, type Transport } from "@switchyard/kube";
import { renderDeviceClasses } from "@switchyard/render";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { keepNodesReady } from "../src/nodes/node-heartbeats.ts";
import { MovingNode, resource } from "./moving-node.ts";

const stack = new AsyncDisposableStack();
let cluster: ControlPlane;
let transport: Transport;
let moving: readonly MovingNode[];

beforeAll(async () => {
  // No kubelet is behind the proxy: only the scheduler is wanted.
  cluster = stack.use(await startControlPlane({ controllerManager: true, nodeProxySocket: "/nonexistent/proxy.sock" }));
  transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
  const names = ["node-1", "node-2", "node-3"];
  await create(...names.map((name) => ({ apiVersion: "v1", kind: "Node", metadata: { name } })));
  stack.use(await keepNodesReady(transport, names));
  await create(...renderDeviceClasses({ prefix: "openshift.io", resourceNames: ["fast"] }));
  moving = names.map((name) => new MovingNode({ transport, name, vfs: 4, nowMs: () => performance.now() }));
});
afterAll(async () => {
  await stack.disposeAsync();
});

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

async function create(...items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await cluster.kubectl(["create", "-f", "-"], { input });
}

/** The pods of the Deployment that run, by uid, with their nodes. */
async function running(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const { items } of listPages(transport, { type: pods, namespace: "default", labelSelector: "app=web" })) {
    for (const pod of items as readonly {
      metadata: { uid?: string; deletionTimestamp?: string };
      spec?: unknown;
      status?: unknown;
    }[]) {
      const { phase } = pod.status as { phase?: string };
      const { nodeName = "" } = pod.spec as { nodeName?: string };
      if (phase === "Running" && pod.metadata.deletionTimestamp === undefined)
        found.set(pod.metadata.uid ?? "", nodeName);
    }
  }
  return found;
}

const scale = (replicas: number) => cluster.kubectl(["scale", "deployment/web", `--replicas=${replicas}`]);

describe("a node that moves to ResourceClaims and back", () => {
  it("gives VFs to unchanged pods in both worlds, restarts none, and never gives a VF twice", async () => {
    const container = { name: "web", image: "web", resources: { limits: { [resource]: "1" } } };
    const template = {
      metadata: { labels: { app: "web" } },
      spec: { containers: [container], terminationGracePeriodSeconds: 0 },
    };
    const spec = { replicas: 6, selector: { matchLabels: { app: "web" } }, template };
    await create({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "default" }, spec });
    await until("six pods run", async () => (await running()).size === 6);
    const before = await running();

    const [first] = moving;
    if (first === undefined) throw new RangeError();
    first.want("dra");
    await until("free VFs are published", () => first.published.size + first.holders.size === 4);
    await scale(9);
    await until("nine pods run", async () => (await running()).size === 9);
    const after = await running();
    expect([...before.keys()].filter((uid) => !after.has(uid))).toEqual([]);

    // A claim gets a VF while pods of the plugin still run on the node.
    await create(...claimPod("claimed"));
    await until("the pod with a claim runs", () => [...first.holders.values()].some(({ via }) => via === "dra"));

    await scale(0);
    await until("all VFs have moved", () => first.registered.size === 0 && first.published.size === 4);
    await scale(10);
    await until("ten pods run", async () => (await running()).size === 10);
    const onFirst = [...first.holders.values()];
    expect(onFirst.length).toBeGreaterThan(1);
    expect(onFirst.every(({ via }) => via === "dra")).toBe(true);

    const inClaims = await running();
    first.want("devicePlugin");
    await until("free VFs have returned", () => first.registered.size + first.holders.size === 4);
    const kept = await running();
    expect([...inClaims.keys()].filter((uid) => !kept.has(uid))).toEqual([]);
    await cluster.kubectl(["delete", "pod", "claimed", "--wait=false"]);
    await scale(0);
    await until("all VFs have returned", () => first.registered.size === 4 && first.published.size === 0);
    await scale(12);
    await until("twelve pods run", async () => (await running()).size === 12);

    expect(moving.flatMap(({ violations }) => violations)).toEqual([]);
    expect(moving.reduce((sum, { moments }) => sum + moments, 0)).toBeGreaterThan(100);
  });
});

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
