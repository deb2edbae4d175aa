// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster with the kinds for AF_XDP only, on a real API server: operator, webhook and config daemon are processes, and the
 * node has a fake kernel. The kinds for SR-IOV are installed later, and no process is restarted.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  afxdpResources,
  annotations,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  sriovResources,
  pods,
} from "@switchyard/api";
import { createFakeKernel, igb, mlx5, pci, serveFakeKernel, type FakeKernel } from "@switchyard/host/testing";
import { apiVersionOf, collectionPath, connect, objectPath, type ResourceType, type Transport } from "@switchyard/kube";
import { operatorIdentity } from "@switchyard/render";
import { certificateFlags, registerWebhooks } from "@switchyard/test-cluster";
import { eventually, findFreePorts, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { applyCrdsOf, workspace } from "../../src/crds/crd-objects.ts";
import { componentImageFlags, deployedOperatorArguments } from "../../src/operator/operator-command.ts";
import { componentSettings, namespace } from "../../src/operator/identity-objects.ts";
import { spawnKept, type KeptProcess } from "../../src/kept-process.ts";
import { eventuallyMatches, readIfThere } from "../../src/api/plain-api.ts";

const nodes = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };
const nodeName = "worker-1";
const [afxdpPf, sriovPf] = [pci("0000:3b:00.0"), pci("0000:01:00.0")];
const names = ["operator", "webhook", "daemon"] as const;

let cluster: ControlPlane;
let user: Transport;
let kernel: FakeKernel;
let probes: readonly number[];
const processes: KeptProcess[] = [];
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  cluster = resources.use(await startControlPlane({ controllerManager: true }));
  user = resources.use(await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" }));
  await applyCrdsOf(cluster, afxdpResources);
  await cluster.kubectl(["create", "namespace", namespace]);
  const identity = { apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(identity) });
  const labels = { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: nodeName, labels } };
  await user.request({ method: "POST", path: collectionPath(nodes), body: node });

  kernel = createFakeKernel({ nics: [mlx5(afxdpPf, { ports: 1 }), igb(sriovPf)] });
  const socket = join(cluster.dataDir, "worker-1.sock");
  resources.use(await serveFakeKernel(kernel, socket));
  const [reviews = 0, ...ports] = await findFreePorts(names.length + 1);
  probes = ports;
  const directory = cluster.dataDir;
  await registerWebhooks({ directory, transport: user }, reviews);
  const common = ["--kubeconfig", cluster.kubeconfig, "--namespace", namespace];
  const programs = {
    operator: [...(await deployedOperatorArguments(cluster)), ...componentImageFlags],
    webhook: [
      ...[join(workspace, "apps/webhook/src/main.ts"), ...common, ...certificateFlags({ directory })],
      ...["--listen-address", `127.0.0.1:${reviews}`, "--shutdown-delay", "100ms"],
    ],
    daemon: [
      ...[join(workspace, "apps/config-daemon/src/testing/fake-node.ts"), ...common],
      ...["--node-name", nodeName, "--kernel-socket", socket],
    ],
  };
  for (const [index, name] of names.entries()) {
    const args = [...programs[name], "--health-address", `127.0.0.1:${probes[index] ?? 0}`];
    const started = spawnKept(args, { log: logOf(name), name: `without-sriov-${name}` });
    processes.push(started);
    resources.defer(() => started.kill());
  }
}, 600_000);

afterEach(async () => {
  for (const process of processes) await process.mustBeAlive();
});

afterAll(() => resources.disposeAsync(), 60_000);

function logOf(name: string): string {
  return join(cluster.dataDir, `${name}.log`);
}

async function logged(name: string, words: string): Promise<readonly string[]> {
  return (await readFile(logOf(name), "utf8")).split("\n").filter((line) => line.includes(words));
}

async function allReady(): Promise<void> {
  for (const [index, name] of names.entries()) await isReadyAt(name, probes[index] ?? 0);
}

async function isReadyAt(name: string, port: number): Promise<void> {
  const url = `http://127.0.0.1:${port}/readyz`;
  const isReady = async (): Promise<boolean> => (await fetch(url).catch(() => undefined))?.ok === true;
  await eventually(`${name} is ready`, isReady, { withinMs: 60_000 });
}

async function create(type: ResourceType, name: string, spec: object): Promise<void> {
  const body = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name }, spec };
  await user.request({ method: "POST", path: collectionPath(type, namespace), body });
}

/** Creates the object as soon as the webhook's caches have found its kind. */
async function createSoon(type: ResourceType, name: string, spec: object): Promise<void> {
  let last: unknown;
  const isCreated = async (): Promise<boolean> => {
    try {
      await create(type, name, spec);
      return true;
    } catch (error) {
      last = error;
      return false;
    }
  };
  await eventually(`${type.kind} ${name} is created`, isCreated, { withinMs: 30_000 }).catch(() => {
    throw last;
  });
}

async function change(type: ResourceType, name: string, spec: object): Promise<void> {
  const path = objectPath(type, { namespace, name });
  await user.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body: { spec } });
}

/** Creates a pod on the node. It is deleted without a kubelet. */
async function createPod(name: string, limits: Readonly<Record<string, string>>): Promise<void> {
  const container = { name: "main", image: "localhost/none", resources: { limits } };
  const spec = {
    nodeName,
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    containers: [container],
  };
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
  await user.request({ method: "POST", path: collectionPath(pods, "default"), body });
}

function readPod(name: string): Promise<unknown> {
  return read(pods, name, "default");
}

function read(type: ResourceType, name: string, place = namespace): Promise<unknown> {
  return readIfThere(user, objectPath(type, { namespace: place, name }));
}

function becomes(type: ResourceType, name: string, expected: object): Promise<void> {
  return eventuallyMatches(`${type.kind} ${name}`, () => read(type, name), expected);
}

const condition = (type: string, status: string, reason: string, message = ""): object => ({
  conditions: expect.arrayContaining([
    expect.objectContaining({ type, status, reason, message: expect.stringContaining(message) }),
  ]),
});

const afxdpPolicy = { poolName: "fast", nodeSelector: {}, nicSelector: { rootDevices: [afxdpPf] }, numSfs: 2 };
const sriovPolicy = {
  resourceName: "vfs",
  numVfs: 2,
  nicSelector: { rootDevices: [sriovPf] },
  nodeSelector: { "kubernetes.io/os": "linux" },
};

describe("a cluster without the kinds for SR-IOV", () => {
  it("has a ready operator, webhook and daemon, and each says once what is missing", async () => {
    await allReady();
    for (const name of names) {
      await eventually(`${name} says it`, async () => {
        return (await logged(name, "CustomResourceDefinitions are not installed")).length === 1;
      });
    }
  });

  it("configures AF_XDP devices from a policy to the status", async () => {
    await create(afxdpOperatorConfigs, "default", {});
    await create(afxdpNetworkNodePolicies, "fast", afxdpPolicy);
    await becomes(afxdpNetworkNodePolicies, "fast", { status: condition("Ready", "True", "Configured") });
    await becomes(afxdpNetworkNodeStates, nodeName, {
      status: { syncStatus: "Succeeded", ...condition("Ready", "True", "Configured") },
    });
    expect((await kernel.host().subfunctions.list()).length).toBe(2);
  });

  it("is drained before subfunctions are taken from a pod, and released afterwards", async () => {
    await createPod("user", { "afxdp/fast": "2" });
    await createPod("bystander", {});
    const giveBack = (await kernel.host().subfunctions.list()).map(({ netdev = "" }) => kernel.moveLinkToPod(netdev));
    await change(afxdpNetworkNodePolicies, "fast", { numSfs: 1 });
    await eventually("the node is drained", async () => {
      const path = "jsonpath={range .items[*]}{.regarding.kind} {.reason};{end}";
      const events = await cluster.kubectl(["get", "events.events.k8s.io", "-A", "-o", path]);
      return events.includes("AfxdpNetworkNodeState DrainCompleted");
    });
    expect([await readPod("user"), await readPod("bystander")]).toEqual([undefined, expect.anything()]);
    for (const back of giveBack) back();
    await becomes(afxdpNetworkNodeStates, nodeName, {
      metadata: { annotations: { [annotations.desiredState]: "Idle", [annotations.currentState]: "Idle" } },
      status: { syncStatus: "Succeeded", ...condition("Ready", "True", "Configured") },
    });
    await eventually("the node is schedulable", async () => {
      const node = await user.request({ method: "GET", path: objectPath(nodes, { name: nodeName }) });
      return !JSON.stringify(node).includes('"unschedulable":true');
    });
    await eventually("the conditions of the drain are gone", async () => {
      return !JSON.stringify(await read(afxdpNetworkNodeStates, nodeName)).includes('"DrainComplete"');
    });
    await change(afxdpNetworkNodePolicies, "fast", { numSfs: 2 });
    await eventually("both subfunctions are back", async () => (await kernel.host().subfunctions.list()).length === 2);
    await becomes(afxdpNetworkNodePolicies, "fast", { status: condition("Ready", "True", "Configured") });
  });

  it("logs as its AfxdpOperatorConfig requires", async () => {
    /** Takes a subfunction away, gives it back, and returns how many steps the daemon has logged meanwhile. */
    const loggedSteps = async (): Promise<number> => {
      const before = (await logged("daemon", "step done")).length;
      for (const numSfs of [1, 2]) {
        await change(afxdpNetworkNodePolicies, "fast", { numSfs });
        const isThere = async () => (await kernel.host().subfunctions.list()).length === numSfs;
        await eventually(`subfunctions: ${numSfs}`, isThere);
        await becomes(afxdpNetworkNodePolicies, "fast", { status: condition("Ready", "True", "Configured") });
      }
      return (await logged("daemon", "step done")).length - before;
    };
    // The daemon watches its config and its node state separately, so it can see the change of the policy first.
    await change(afxdpOperatorConfigs, "default", { logLevel: 0 });
    await eventually("the daemon logs no steps", async () => (await loggedSteps()) === 0, { withinMs: 60_000 });
    await change(afxdpOperatorConfigs, "default", { logLevel: 1 });
    await eventually("the daemon logs its steps", async () => (await loggedSteps()) > 0, { withinMs: 60_000 });
  });

  it("has its AF_XDP policies reviewed", async () => {
    const tooMany = { ...afxdpPolicy, poolName: "large", numSfs: 65 };
    await expect(create(afxdpNetworkNodePolicies, "large", tooMany)).rejects.toThrow(/denied the request/);
  });

  it("deploys what AF_XDP needs, which belongs to the AfxdpOperatorConfig, and no more", async () => {
    await hasDaemonSets("AfxdpOperatorConfig", ["afxdp-device-plugin", "sriov-network-config-daemon"]);
    const message = "deployed as configured: config-daemon, afxdp-device-plugin";
    await becomes(afxdpOperatorConfigs, "default", {
      status: condition("Ready", "True", "OperatorConfigReady", message),
    });
  });

  it("deploys the plugins of upstream with provider upstream, and goes back", async () => {
    await change(afxdpOperatorConfigs, "default", { provider: "upstream" });
    await hasDaemonSets("AfxdpOperatorConfig", ["afxdp-plugins", "sriov-network-config-daemon"]);
    await becomes(afxdpOperatorConfigs, "default", {
      status: condition("Ready", "True", "OperatorConfigReady", "deployed as configured: config-daemon, afxdp-plugins"),
    });
    expect((await kernel.host().subfunctions.list()).length).toBe(2); // its policy is refused, and nothing is changed
    await change(afxdpOperatorConfigs, "default", { provider: "switchyard" });
    await hasDaemonSets("AfxdpOperatorConfig", ["afxdp-device-plugin", "sriov-network-config-daemon"]);
    await becomes(afxdpNetworkNodePolicies, "fast", { status: condition("Ready", "True", "Configured") });
    expect((await kernel.host().subfunctions.list()).length).toBe(2);
  });

  it("causes no failed watches or reconciles", async () => {
    for (const name of names) {
      for (const words of ["watch failed", "rights are missing", "reconcile failed", "pass failed"]) {
        const lines = await logged(name, words);
        // So the API server answers for a moment after a CustomResourceDefinition was installed.
        expect(lines.filter((line) => !line.includes("storage is (re)initializing"))).toEqual([]);
      }
    }
  });
});

/** Waits until these DaemonSets, and no others, exist with an owner of this kind. */
async function hasDaemonSets(owner: string, expected: readonly string[]): Promise<void> {
  const path = "jsonpath={range .items[*]}{.metadata.ownerReferences[*].kind} {.metadata.name};{end}";
  let found = "";
  const isThere = async (): Promise<boolean> => {
    found = await cluster.kubectl(["get", "daemonsets", "-n", namespace, "--sort-by=.metadata.name", "-o", path]);
    return found === expected.map((name) => `${owner} ${name};`).join("");
  };
  await eventually(`DaemonSets ${expected.join()} of ${owner}`, isThere, { withinMs: 60_000 }).catch(() => {
    expect(found).toBe(expected.map((name) => `${owner} ${name};`).join(""));
  });
}

describe("when the kinds for SR-IOV are installed", () => {
  it("a daemon that starts before there is a SriovOperatorConfig is ready", async () => {
    await applyCrdsOf(cluster, sriovResources);
    const socket = join(cluster.dataDir, "worker-2.sock");
    await using _kernel = await serveFakeKernel(createFakeKernel({ nics: [] }), socket);
    const [port = 0] = await findFreePorts(1);
    const args = [
      ...[join(workspace, "apps/config-daemon/src/testing/fake-node.ts"), "--kubeconfig", cluster.kubeconfig],
      ...["--namespace", namespace, "--node-name", "worker-2", "--kernel-socket", socket],
      ...["--health-address", `127.0.0.1:${port}`],
    ];
    const daemon = spawnKept(args, { log: logOf("daemon-2"), name: "without-sriov-daemon-2" });
    await isReadyAt("the daemon", port);
    await daemon.kill();
  });

  it("the running processes configure VFs", async () => {
    await createSoon(sriovOperatorConfigs, "default", {});
    await createSoon(sriovNetworkNodePolicies, "vfs", sriovPolicy);
    await becomes(sriovNetworkNodeStates, nodeName, {
      status: {
        syncStatus: "Succeeded",
        interfaces: expect.arrayContaining([expect.objectContaining({ pciAddress: sriovPf, numVfs: 2 })]),
      },
    });
    await becomes(sriovNetworkNodePolicies, "vfs", { status: condition("Ready", "True", "Configured") });
    await allReady();
  });

  it("the components belong to the SriovOperatorConfig, and to the AfxdpOperatorConfig again without it", async () => {
    await hasDaemonSets("SriovOperatorConfig", [
      "afxdp-device-plugin",
      "sriov-device-plugin",
      "sriov-network-config-daemon",
    ]);
    const path = objectPath(sriovOperatorConfigs, { namespace, name: "default" });
    await user.request({ method: "DELETE", path });
    await hasDaemonSets("AfxdpOperatorConfig", ["afxdp-device-plugin", "sriov-network-config-daemon"]);
    const rights = await cluster.kubectl(["get", "clusterrolebinding", "sriov-network-config-daemon", "-o", "name"]);
    expect(rights.trim()).toMatch(/sriov-network-config-daemon$/);
    await create(sriovOperatorConfigs, "default", {});
  });

  it("SR-IOV policies are reviewed, and AF_XDP devices stay as they are", async () => {
    // Its number of VFs is that of a node state, which was deleted with the SriovOperatorConfig.
    await becomes(sriovNetworkNodePolicies, "vfs", { status: condition("Ready", "True", "Configured") });
    await becomes(sriovNetworkNodeStates, nodeName, { status: { syncStatus: "Succeeded" } });
    const tooMany = { ...sriovPolicy, numVfs: 64 };
    await expect(create(sriovNetworkNodePolicies, "large", tooMany)).rejects.toThrow(/denied the request/);
    await becomes(afxdpNetworkNodePolicies, "fast", { status: condition("Ready", "True", "Configured") });
    expect((await kernel.host().subfunctions.list()).length).toBe(2);
  });

  // At the end, because it removes the webhook of the other tests.
  it("deploys the webhook with a certificate if the AfxdpOperatorConfig enables it, and removes both again", async () => {
    const secrets = { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };
    const nodeParts = ["afxdp-device-plugin", "sriov-network-config-daemon"];
    await user.request({ method: "DELETE", path: objectPath(sriovOperatorConfigs, { namespace, name: "default" }) });
    await hasDaemonSets("AfxdpOperatorConfig", nodeParts);
    const registrations = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
    await cluster.kubectl(["delete", registrations, "--all"]);
    await change(afxdpOperatorConfigs, "default", { enableOperatorWebhook: true });
    await hasDaemonSets("AfxdpOperatorConfig", [
      "afxdp-device-plugin",
      "operator-webhook",
      "sriov-network-config-daemon",
    ]);
    await becomes(secrets, "operator-webhook-cert", {
      metadata: { ownerReferences: [{ kind: "AfxdpOperatorConfig" }] },
    });
    await becomes(afxdpOperatorConfigs, "default", { status: condition("WebhookCertificate", "True", "Valid") });
    await change(afxdpOperatorConfigs, "default", { enableOperatorWebhook: false });
    await hasDaemonSets("AfxdpOperatorConfig", nodeParts);
    await eventually("the Secret is gone", async () => (await read(secrets, "operator-webhook-cert")) === undefined);
    await eventually("the condition is gone", async () => {
      return !JSON.stringify(await read(afxdpOperatorConfigs, "default")).includes("WebhookCertificate");
    });
  });
});
