// SPDX-License-Identifier: Apache-2.0
/**
 * Switchyard takes over three nodes of a cluster whose operator gives VFs to pods by dra-driver-sriov (dra.md 2), and later gives them to the
 * device plugin. API server, scheduler, DaemonSet controller, operator, config daemons, device-plugin-config and the own driver are
 * real; kernels, kubelets and the programs of the other operator are not (taken-node.ts).
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  nodes as nodeType,
  operatorConfigName,
  resourceClaims,
  resourceSlices,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type Condition,
  type ResourceSlice,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { isKubeError, listPages, objectPath } from "@switchyard/kube";
import { addressOfDevice, componentKinds } from "@switchyard/render";
import {
  applyPolicy,
  createNode,
  createOperatorConfig,
  keepNodesReady,
  namespace,
  policySpec,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";
import {
  installOperator,
  ownImages,
  upstreamEnvironment,
  type DeployedOperator,
} from "../upgrade/deployed-operator.ts";
import {
  foreignClass,
  foreignDriver,
  foreignImage,
  foreignPod,
  foreignSlice,
  podsWithClaims,
  readClaims,
} from "./foreign-driver.ts";
import { listPods } from "./node-pods.ts";
import { pf, startTakenNode, type TakenNode } from "./taken-node.ts";

const nodeNames = ["worker-1", "worker-2", "worker-3"];
const numVfs = 6;
const within = { withinMs: 240_000 };
const gates = (dynamicResourceAllocation: boolean) => ({ featureGates: { dynamicResourceAllocation } });

const stack = new AsyncDisposableStack();
let testCluster: UpstreamCluster;
let operator: DeployedOperator;
let taken: readonly TakenNode[];
/** The claims as the other operator leaves them: uid and allocation by name. */
let claims: ReadonlyMap<string, string>;

beforeAll(async () => {
  // No kubelet is behind the proxy: only the scheduler is wanted.
  const proxy = { nodeProxySocket: "/nonexistent/proxy.sock" };
  testCluster = stack.use(await startUpstreamCluster({ controllerManager: true, ...proxy }));
  for (const name of nodeNames) await createNode(testCluster, name);
  stack.use(await keepNodesReady(testCluster.transport, nodeNames));
  const all = nodeNames.map((name) =>
    startTakenNode({ testCluster, name, numVfs, driverImage: ownImages.SRIOV_DRA_DRIVER_IMAGE }),
  );
  taken = await Promise.all(all);
  for (const node of taken) stack.use(node);
  await leaveOtherOperator();
  operator = await installOperator(testCluster, upstreamEnvironment(""));
  stack.defer(() => operator.stop());
}, 600_000);
afterAll(() => disposeOf(stack), 60_000);

/** What the other operator has written, with pods that the scheduler has placed by the slices of the other driver. */
async function leaveOtherOperator(): Promise<void> {
  const { transport } = testCluster;
  for (const { name, vfs } of taken) {
    const path = objectPath(nodeType, { name }, "status");
    const amounts = { cpu: "16", memory: "32Gi", pods: "100" };
    const body = { status: { capacity: amounts, allocatable: amounts } };
    await transport.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
    const nodeUid = await testCluster.cluster.kubectl(["get", "node", name, "-o", "jsonpath={.metadata.uid}"]);
    await create(foreignSlice({ node: name, nodeUid, pf, vfs, resource: "openshift.io/fast" }));
  }
  await create(foreignClass("fast", "openshift.io/fast"));
  for (const { type, object } of foreignDriver(namespace)) await testCluster.as(upstream.operator).create(type, object);
  for (const name of nodeNames) await create(...foreignPod(name, `${name}-a`), ...foreignPod(name, `${name}-b`));
  await eventually("all pods run with the other driver", async () => {
    for (const node of taken) await node.runPods();
    const pods = await listPods(transport, {});
    return pods.length === 3 * nodeNames.length && pods.every(({ status }) => status.phase === "Running");
  });
  const found = await readClaims(transport);
  claims = new Map([...found].map(([name, { identity }]) => [name, identity]));
  for (const { name: node, kubelet } of taken) {
    const claimed = [...found].flatMap(([name, { device }]) =>
      device !== undefined && name.startsWith(node) ? [{ name, device }] : [],
    );
    kubelet.pods = podsWithClaims({ node, claimed });
  }
}

async function create(...items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await testCluster.cluster.kubectl(["create", "-f", "-"], { input });
}

/** The cluster at one moment. VFs are "node/address". */
interface Moment {
  readonly plugin: ReadonlySet<string>;
  readonly slices: ReadonlySet<string>;
  /** In slices and offered by the plugin, before and after the slices were read. */
  readonly both: readonly string[];
  /** Claims that are not as the other operator left them. */
  readonly lost: readonly string[];
  /** Nodes with no driver that runs, of whichever operator. */
  readonly unserved: readonly string[];
  /** Image of the driver by node. */
  readonly images: ReadonlyMap<string, string>;
}

async function sample(): Promise<Moment> {
  const { transport } = testCluster;
  const before = await offeredByPlugins();
  const slices = new Set<string>();
  for await (const { items } of listPages(transport, { type: resourceSlices })) {
    for (const { spec } of items as unknown as readonly ResourceSlice[]) {
      for (const { name } of spec.devices) slices.add(`${spec.nodeName}/${addressOfDevice(name) ?? ""}`);
    }
  }
  const plugin = await offeredByPlugins();
  const found = await readClaims(transport);
  const pods = await listPods(transport, { labelSelector: "app=sriov-dra-driver" });
  const running = pods.filter(
    ({ status, metadata }) => status.phase === "Running" && metadata.deletionTimestamp === undefined,
  );
  const images = new Map(running.map(({ spec }) => [spec.nodeName ?? "", spec.containers[0]?.image ?? ""]));
  return {
    ...{ plugin, slices, images },
    both: [...slices].filter((vf) => before.has(vf) && plugin.has(vf)),
    lost: [...claims].flatMap(([name, identity]) => (found.get(name)?.identity === identity ? [] : [name])),
    unserved: nodeNames.filter((name) => !images.has(name)),
  };
}

async function offeredByPlugins(): Promise<ReadonlySet<string>> {
  const offered = taken.map(async (node) =>
    [...(await node.offeredByPlugin())].map((address) => `${node.name}/${address}`),
  );
  return new Set((await Promise.all(offered)).flat());
}

const violations: string[] = [];
/** Nodes in the order in which the own driver came to run on them. */
const order: string[] = [];

/** Takes samples while the nodes run their pods, until the condition holds, and at least `count`. */
async function sampleUntil(what: string, count: number, holds: (now: Moment) => Promise<boolean> | boolean) {
  let samples = 0;
  let last: Moment | undefined;
  try {
    await eventually(
      what,
      async () => {
        const now = await sample();
        samples++;
        last = now;
        const { both, lost, unserved, images } = now;
        const wrong = [
          ...both.map((vf) => `${vf} is offered twice`),
          ...lost.map((name) => `claim ${name} has changed`),
          ...(unserved.length > 1 ? [`${unserved.join(" and ")} have no driver`] : []),
        ];
        violations.push(...wrong.map((text) => `${what}: ${text}`));
        for (const [name, image] of images) {
          if (image === ownImages.SRIOV_DRA_DRIVER_IMAGE && !order.includes(name)) order.push(name);
        }
        for (const node of taken) await node.runPods();
        return (await holds(now)) && samples >= count;
      },
      within,
    );
  } catch (cause) {
    const states = await Promise.all(nodeNames.map(readState));
    const ofStates = states.map((state) => [
      state?.spec?.allocation,
      state?.status?.offeredBy,
      state?.status?.syncStatus,
    ]);
    const seen = { samples, plugin: [...(last?.plugin ?? [])], slices: [...(last?.slices ?? [])], order };
    throw new Error(`${what}: ${JSON.stringify({ seen, ofStates, conditions: await conditions() })}`, { cause });
  }
}

async function readState(name: string): Promise<SriovNetworkNodeState | undefined> {
  const path = objectPath(sriovNetworkNodeStates, { name, namespace });
  try {
    return (await testCluster.transport.request({ method: "GET", path })) as SriovNetworkNodeState;
  } catch (error) {
    if (isKubeError(error, "NotFound")) return undefined;
    throw error;
  }
}

/** Conditions of the SriovOperatorConfig that are True, with their messages. */
async function conditions(): Promise<readonly string[]> {
  const config = await testCluster.read(sriovOperatorConfigs, operatorConfigName);
  const { conditions: all = [] } = "status" in config ? (config.status as { conditions?: readonly Condition[] }) : {};
  return all.filter(({ status }) => status === "True").map(({ type, message }) => `${type}: ${message}`);
}

const areDone = async (holds: (state: SriovNetworkNodeState) => boolean): Promise<boolean> =>
  (await Promise.all(nodeNames.map(readState))).every((state) => state !== undefined && holds(state));

describe("a cluster of an operator with dra-driver-sriov", () => {
  it("starts with the pods of that operator on all nodes, and with allocated claims", async () => {
    const { plugin, slices, lost, images } = await sample();
    expect([plugin.size, slices.size, lost, claims.size]).toEqual([0, nodeNames.length * numVfs, [], 6]);
    expect([...images.values()]).toEqual(nodeNames.map(() => foreignImage));
  });

  it("is taken over node by node: no VF is offered twice at any of 200 moments, and no claim is deallocated", async () => {
    const spec = policySpec({ rootDevices: [pf] }, { resourceName: "fast", numVfs });
    await applyPolicy(testCluster, "fast", spec);
    await createOperatorConfig(testCluster, gates(true));
    operator.start();
    for (const node of taken) node.startPrograms();
    await sampleUntil("the own driver runs on all nodes", 50, () => order.length === nodeNames.length);
    await sampleUntil("Switchyard publishes all VFs", 150, async ({ slices, plugin }) => {
      const isDone = ({ status }: SriovNetworkNodeState) =>
        status?.syncStatus === "Succeeded" && status.offeredBy === "dra" && status.publishedVfs === numVfs;
      return slices.size === nodeNames.length * numVfs && plugin.size === 0 && (await areDone(isDone));
    });
    expect(violations).toEqual([]);
  });

  it("has a healthy operator then, and no rights of the other driver", async () => {
    await sampleUntil("the operator is ready", 1, async () =>
      (await conditions()).every((text) => text.startsWith("Ready:")),
    );
    expect(await conditions()).toEqual([expect.stringContaining("dra-driver")]);
    expect(await testCluster.find(componentKinds.Role, "sriov-dra-driver-pod-access")).toBeUndefined();
    const set = JSON.stringify(await testCluster.read(componentKinds.DaemonSet, "sriov-dra-driver"));
    expect(set).not.toContain("wait-for-config");
  });

  it("goes to the device plugin: it offers the VFs without claims, and the others stay in the slices", async () => {
    const patch = ["patch", "sriovoperatorconfig", "default", "-n", namespace, "--type=merge", "-p"];
    await testCluster.cluster.kubectl([...patch, JSON.stringify({ spec: gates(false) })]);
    await sampleUntil("the plugin offers the others", 20, ({ plugin, slices }) => {
      return plugin.size === nodeNames.length * numVfs - claims.size && slices.size === claims.size;
    });
    expect(violations).toEqual([]);
    const [name = ""] = claims.keys();
    const path = objectPath(resourceClaims, { name, namespace: "default" });
    const body = { metadata: { finalizers: null } };
    await testCluster.transport.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
    await testCluster.transport.request({ method: "DELETE", path });
    expect((await sample()).lost).toEqual([name]); // the check can fail
  });
});
