// SPDX-License-Identifier: Apache-2.0
/**
 * A node with AF_XDP devices, from a policy to subfunctions and back, on a real API server with a controller manager.
 * The operator and the config daemon are processes, and the node has a fake kernel. The test plays the kubelet and the
 * device plugin.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  annotations,
  nodes,
} from "@switchyard/api";
import { apiVersionOf, isRecord, objectPath, type ResourceType } from "@switchyard/kube";
import { createFakeKernel, mlx5, pci, serveFakeKernel, type FakeKernel } from "@switchyard/host/testing";
import { startFakeKubelet } from "@switchyard/kubelet/testing";
import { eventually, findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { applyCrdsOf } from "../../src/crds/crd-objects.ts";
import { namespace } from "../../src/operator/identity-objects.ts";
import { spawnKept, type KeptProcess } from "../../src/kept-process.ts";
import { startDrainCluster, type DrainCluster } from "../drain/drain-cluster.ts";
import { eventuallyMatches, readIfThere } from "../../src/api/plain-api.ts";

const nodeName = "worker-1";
const pf = pci("0000:3b:00.0");
const pools = [{ name: "fast", announced: 2, allocatable: 2 }];

let testCluster: DrainCluster;
let kernel: FakeKernel;
let daemon: KeptProcess;
const resources = new AsyncDisposableStack();
const hostRoot = (): string => join(testCluster.cluster.dataDir, "host");

beforeAll(async () => {
  testCluster = resources.use(await startDrainCluster());
  kernel = createFakeKernel({ nics: [mlx5(pf, { ports: 1 })] });
  const socket = join(testCluster.cluster.dataDir, "worker-1.sock");
  resources.use(await serveFakeKernel(kernel, socket));
  await testCluster.addNode(nodeName);
  daemon = spawnKept(
    [
      join(findWorkspaceRoot(), "apps/config-daemon/src/testing/fake-node.ts"),
      ...["--kubeconfig", testCluster.cluster.kubeconfig, "--namespace", namespace],
      ...["--node-name", nodeName, "--kernel-socket", socket, "--host-root", hostRoot()],
    ],
    { log: join(testCluster.cluster.dataDir, "daemon.log"), name: "afxdp-node-daemon" },
  );
  resources.defer(() => daemon.kill());
}, 600_000);

afterEach(() => daemon.mustBeAlive());

afterAll(() => resources.disposeAsync(), 60_000);

function apply(type: ResourceType, name: string, spec: object): Promise<void> {
  return testCluster.apply({ apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name, namespace }, spec });
}

function read(type: ResourceType, name: string): Promise<unknown> {
  const place = type.namespaced ? { name, namespace } : { name };
  return readIfThere(testCluster.transport, objectPath(type, place));
}

function becomes(type: ResourceType, name: string, expected: object): Promise<void> {
  return eventuallyMatches(`${type.kind} ${name}`, () => read(type, name), expected);
}

const condition = (type: string, status: string, reason: string): object => ({
  conditions: expect.arrayContaining([expect.objectContaining({ type, status, reason })]),
});

async function isReadyState(): Promise<boolean> {
  const state = await read(afxdpNetworkNodeStates, nodeName);
  return isRecord(state) && isRecord(state["status"]) && state["status"]["syncStatus"] === "Succeeded";
}

const subfunctions = () => kernel.host().subfunctions.list();

const setPolicy = (spec: object): Promise<void> =>
  apply(afxdpNetworkNodePolicies, "fast", {
    poolName: "fast",
    nodeSelector: {},
    nicSelector: { rootDevices: [pf] },
    ...spec,
  });

describe("a node with AF_XDP devices", () => {
  it("reports its devices as soon as AF_XDP is configured", async () => {
    await apply(afxdpOperatorConfigs, "default", {});
    await becomes(afxdpNetworkNodeStates, nodeName, {
      status: {
        interfaces: [{ pciAddress: pf, driver: "mlx5_core", maxSfs: 64, numSfs: 0, eSwitchMode: "legacy" }],
        syncStatus: "Succeeded",
        ...condition("Ready", "True", "Configured"),
      },
    });
  });

  it("gets the subfunctions of a policy, which then is ready", async () => {
    await setPolicy({ numSfs: 2, mtu: 9000 });
    await becomes(afxdpNetworkNodePolicies, "fast", { status: condition("Ready", "True", "Configured") });
    // By this handle, the device plugin and host-device find the subfunction.
    const device = expect.stringMatching(/^auxiliary\/mlx5_core\.sf\.\d+$/);
    const made = { state: "active", mtu: 9000, poolName: "fast", owned: true, device, name: expect.any(String) };
    await becomes(afxdpNetworkNodeStates, nodeName, {
      status: {
        interfaces: [
          {
            owned: true,
            eSwitchMode: "switchdev",
            initialESwitchMode: "legacy",
            subfunctions: [
              { sfNumber: 0, ...made },
              { sfNumber: 1, ...made },
            ],
          },
        ],
      },
    });
    expect((await subfunctions()).length).toBe(2);
  });

  it("leaves the pools in the status to the device plugin, and an event says what happened", async () => {
    await testCluster.transport.request({
      method: "PATCH",
      path: `${objectPath(afxdpNetworkNodeStates, { name: nodeName, namespace }, "status")}?fieldManager=plugin&force=true`,
      contentType: "application/apply-patch+yaml",
      body: {
        apiVersion: apiVersionOf(afxdpNetworkNodeStates),
        kind: afxdpNetworkNodeStates.kind,
        metadata: { name: nodeName, namespace },
        status: { pools },
      },
    });
    await setPolicy({ numSfs: 3, mtu: 9000 });
    await becomes(afxdpNetworkNodeStates, nodeName, {
      status: { pools, syncStatus: "Succeeded", interfaces: [{ numSfs: 3 }] },
    });
    await eventually("events", async () => {
      const path = [
        "get",
        "events.events.k8s.io",
        "-A",
        "-o",
        "jsonpath={range .items[*]}{.regarding.kind} {.reason};{end}",
      ];
      return (await testCluster.cluster.kubectl(path)).includes("AfxdpNetworkNodeState SyncStatusChanged");
    });
  });

  it("is drained before subfunctions are taken from a pod, and released afterwards", async () => {
    await testCluster.addPod("user", { node: nodeName, requests: { "afxdp/fast": "3" } });
    await testCluster.addPod("bystander", { node: nodeName });
    const giveBack = (await subfunctions()).map(({ netdev = "" }) => kernel.moveLinkToPod(netdev));
    await setPolicy({ numSfs: 1, mtu: 9000 });
    await becomes(afxdpNetworkNodeStates, nodeName, { status: condition("Ready", "False", "WaitingForDrain") });
    await testCluster.answered(nodeName, "DrainComplete");
    expect([testCluster.pods.get("user"), testCluster.pods.get("bystander") === undefined]).toEqual([undefined, false]);
    for (const back of giveBack) back();
    await becomes(afxdpNetworkNodeStates, nodeName, {
      status: { syncStatus: "Succeeded", interfaces: [{ numSfs: 1 }], ...condition("Ready", "True", "Configured") },
    });
    await testCluster.answered(nodeName, "Idle");
    await becomes(nodes, nodeName, { metadata: { annotations: { [annotations.nodeState]: "Idle" } } });
    await eventually("the node is schedulable", () => testCluster.nodes.get(nodeName)?.spec?.unschedulable !== true);
  });

  it("keeps its subfunctions when the CustomResourceDefinition of the policies is deleted and created again, with the node states or without", async () => {
    const before = await subfunctions();
    expect(before.length).toBe(1);
    for (const replaced of [[afxdpNetworkNodePolicies], [afxdpNetworkNodePolicies, afxdpNetworkNodeStates]]) {
      const crds = replaced.map(({ plural, group }) => `${plural}.${group}`);
      await testCluster.cluster.kubectl(["delete", "crd", ...crds]);
      await applyCrdsOf(testCluster.cluster, replaced);
      const held = {
        type: "ResetHeld",
        status: "True",
        reason: "RestorePending",
        // The namespace is new, too, and is named first if it is not known when the node was configured.
        message: expect.stringMatching(
          /^node worker-1 keeps its configuration without policies: (CustomResourceDefinition|namespace) \S+ was created/,
        ),
      };
      await becomes(afxdpOperatorConfigs, "default", {
        status: { conditions: expect.arrayContaining([expect.objectContaining(held)]) },
      });
      await eventually("the node is configured", () => isReadyState(), { withinMs: 120_000 });
      expect(await subfunctions()).toEqual(before);
      await setPolicy({ numSfs: 1, mtu: 9000 });
      await becomes(afxdpNetworkNodePolicies, "fast", { status: condition("Ready", "True", "Configured") });
      const nothingHeld = expect.not.arrayContaining([expect.objectContaining({ type: "ResetHeld" })]);
      await becomes(afxdpOperatorConfigs, "default", { status: { conditions: nothingHeld } });
      expect(await subfunctions()).toEqual(before);
    }
  }, 240_000);

  it("reports what the driver refuses, in its words, and recovers", async () => {
    const fault = kernel.fault(
      { port: "subfunctions", method: "create" },
      { code: "EINVAL", words: "Incorrect pfnum" },
    );
    await setPolicy({ numSfs: 2, mtu: 9000 });
    await becomes(afxdpNetworkNodePolicies, "fast", { status: condition("Ready", "False", "NodesFailed") });
    await becomes(afxdpNetworkNodeStates, nodeName, {
      status: {
        syncStatus: "Failed",
        lastSyncError: expect.stringContaining("EINVAL (Incorrect pfnum)"),
        ...condition("Degraded", "True", "StepFailed"),
      },
    });
    fault.lift();
    await becomes(afxdpNetworkNodePolicies, "fast", { status: condition("Ready", "True", "Configured") });
  });

  it("has nothing left after the policy is deleted", async () => {
    const path = objectPath(afxdpNetworkNodePolicies, { name: "fast", namespace });
    await testCluster.transport.request({ method: "DELETE", path });
    await eventually("no subfunctions", async () => (await subfunctions()).length === 0);
    await becomes(afxdpNetworkNodeStates, nodeName, {
      status: { syncStatus: "Succeeded", interfaces: [{ numSfs: 0, eSwitchMode: "legacy" }] },
    });
    await eventually("the operator has nothing left to reset", async () => {
      const state = await read(afxdpNetworkNodeStates, nodeName);
      return isRecord(state) && isRecord(state["spec"]) && state["spec"]["unselected"] === undefined;
    });
    const { host } = kernel;
    expect([(await host().afxdpRecords.list()).size, await host().devlink.readEswitchMode(pf)]).toEqual([0, "legacy"]);
  });

  it("detaches the XDP program that the device plugin has left when the provider changes, if the kubelet says that no pod has the device", async () => {
    const links = await kernel.host().links.listLinks();
    const name = links.find(({ parent }) => parent?.name === pf)?.name ?? "";
    kernel.attachXdpProgram(name, { id: 7, name: "switchyard_xsk", mode: "native", isOwn: true });
    const isAttached = async (): Promise<boolean> => (await kernel.host().xdp.readPrograms(name)).length > 0;
    await apply(afxdpOperatorConfigs, "default", { provider: "upstream" });
    const why = `XDP programs of Switchyard stay on ${name}: the kubelet does not say which devices pods have: 14 UNAVAILABLE`;
    await becomes(afxdpNetworkNodeStates, nodeName, {
      status: {
        syncStatus: "Failed",
        lastSyncError: expect.stringContaining(why),
        ...condition("Degraded", "True", "NotPossible"),
      },
    });
    await using kubelet = await startFakeKubelet(join(hostRoot(), "var/lib/kubelet"));
    const devices = [{ resourceName: "afxdp/fast", ids: [pf] }];
    kubelet.pods = [{ name: "app", namespace: "default", containers: [{ name: "app", devices }] }];
    await eventually("the state is Ready", () => isReadyState(), { withinMs: 60_000 });
    expect(await isAttached()).toBe(true);
    kubelet.pods = [];
    await apply(afxdpOperatorConfigs, "default", { provider: "upstream", disableDrain: true }); // causes a pass
    await eventually("it is detached", async () => !(await isAttached()), { withinMs: 60_000 });
    await eventually("its map is removed", async () => (await kernel.host().xdp.listOwnMaps()).length === 0);
  });

  it("detaches the XDP program that the plugins of upstream have left when they do not serve the device any more, and says why it stays before", async () => {
    const { host, pluginLeftovers } = kernel;
    const links = await host().links.listLinks();
    const name = links.find(({ parent }) => parent?.name === pf)?.name ?? "";
    kernel.attachXdpProgram(name, { id: 8, name: "xsk_def_prog", mode: "native", isOwn: false });
    pluginLeftovers.record({ device: pf, bootId: await host().boot.readBootId(), names: [name], pools: ["fast"] });
    pluginLeftovers.setSockets(name, 1);
    await using _kubelet = await startFakeKubelet(join(hostRoot(), "var/lib/kubelet"));
    await apply(afxdpOperatorConfigs, "default", { provider: "switchyard" });
    const why = `XDP program xsk_def_prog stays on ${name}: AF_XDP sockets of the host use the interface (1)`;
    await becomes(afxdpNetworkNodeStates, nodeName, {
      status: {
        syncStatus: "Failed",
        lastSyncError: expect.stringContaining(why),
        ...condition("Degraded", "True", "NotPossible"),
      },
    });
    pluginLeftovers.setSockets(name, 0);
    await apply(afxdpOperatorConfigs, "default", { provider: "switchyard", disableDrain: true }); // causes a pass
    const isAttached = async (): Promise<boolean> => (await host().xdp.readPrograms(name)).length > 0;
    await eventually("it is detached", async () => !(await isAttached()), { withinMs: 60_000 });
    await eventually("the state is Ready", () => isReadyState(), { withinMs: 60_000 });
    expect(await host().pluginLeftovers.listDevices()).toEqual([]);
  });
});
