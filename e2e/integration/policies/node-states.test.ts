// SPDX-License-Identifier: Apache-2.0
/**
 * The SriovNetworkNodeStates that the operator keeps, on a real API server: they match the policies, manual changes
 * are undone, and they exist for the nodes that SriovOperatorConfig selects. The test plays the nodes' daemons.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import {
  annotations,
  labels,
  nodes as nodeType,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { createNode, namespace } from "@switchyard/test-cluster";
import { objectPath, watchObjects, type Cache } from "@switchyard/kube";
import { eventually, isWrite, type GuardedProcess } from "@switchyard/testing";
import { isDeepStrictEqual } from "node:util";
import { startUpstreamCluster, type UpstreamCluster } from "../../src/operator/upstream-cluster.ts";

const pf = "0000:3b:00.0";
/** Upstream's operator takes up to five minutes. */
const soon = { withinMs: 10_000 };
const asWanted: SriovNetworkNodeStateSpec = {
  interfaces: [
    {
      pciAddress: pf,
      name: "ens1f0",
      numVfs: 4,
      vfGroups: [{ resourceName: "fast", policyName: "fast", vfRange: "0-3", deviceType: "netdevice" }],
    },
  ],
};

let testCluster: UpstreamCluster;
let operator: GuardedProcess;
let laterNodes = 0;
let states: Cache<SriovNetworkNodeState> & AsyncDisposable;

beforeAll(async () => {
  testCluster = await startUpstreamCluster();
  states = watchObjects({
    transport: testCluster.transport,
    type: sriovNetworkNodeStates,
    namespace,
    report: () => undefined,
    project: (state: SriovNetworkNodeState) => state,
  });
  for (const name of ["worker-1", "worker-2"]) await createNode(testCluster, name);
  await testCluster.as("user").create(sriovOperatorConfigs, { metadata: { name: "default" }, spec: {} });
  await testCluster.as("user").create(sriovNetworkNodePolicies, {
    metadata: { name: "fast" },
    spec: { nodeSelector: {}, nicSelector: { rootDevices: [pf] }, resourceName: "fast", numVfs: 4 },
  });
  operator = testCluster.startOperator();
  await eventually("the operator's start", () => states.get("worker-1"));
  await report("worker-1");
  await specIs("worker-1", asWanted);
}, 600_000);

afterAll(async () => {
  await states[Symbol.asyncDispose]();
  await testCluster[Symbol.asyncDispose]();
}, 60_000);

/**
 * Waits until the operator has handled all earlier changes, its own writes included: it creates the state of a new node
 * after that. Writes that follow are then caused by the test.
 */
beforeEach(async () => {
  const name = `later-${++laterNodes}`;
  await createNode(testCluster, name);
  await eventually(`the state of ${name}`, () => states.get(name), soon);
});

/** Reports a PF in the node state, as a daemon does after it has inspected the node. */
async function report(node: string): Promise<void> {
  await eventually(`the state of ${node}`, () => states.get(node), soon);
  const interfaces = [{ pciAddress: pf, name: "ens1f0", vendor: "8086", deviceID: "158b", totalvfs: 64, numVfs: 0 }];
  await testCluster.transport.request({
    method: "PATCH",
    path: objectPath(sriovNetworkNodeStates, { name: node, namespace }, "status"),
    contentType: "application/merge-patch+json",
    body: { status: { interfaces, syncStatus: "Succeeded" } },
  });
}

/** Waits for a spec. Rejects with the actual spec if the node state does not get it. */
async function specIs(node: string, wanted: SriovNetworkNodeStateSpec | undefined): Promise<void> {
  const isThere = () => isDeepStrictEqual(states.get(node)?.spec, wanted);
  await eventually(`the spec of ${node}`, isThere, soon).catch((cause: unknown) => {
    throw new Error(`the spec of ${node} is ${JSON.stringify(states.get(node)?.spec)}`, { cause });
  });
}

const byHand = () => testCluster.as("kubectl-edit");
const pathOf = (node: string) => objectPath(sriovNetworkNodeStates, { name: node, namespace });
const generationOf = (node: string) => states.get(node)?.metadata.generation ?? 0;

describe("a new node", () => {
  const { nodeState, desiredState, currentState } = annotations;
  const notesOf = (node: string) => {
    const { [desiredState]: desired, [currentState]: current } = states.get(node)?.metadata.annotations ?? {};
    return [desired, current];
  };
  const nodeMetadata = async (name: string) => (await testCluster.read(nodeType, name)).metadata;

  it("gets upstream's annotations and label before its daemon's report, with one write to each object", async () => {
    const begin = (await testCluster.audit()).length;
    await createNode(testCluster, "fresh");
    await eventually("its label", async () => (await nodeMetadata("fresh")).labels?.[labels.devicePlugin], soon);
    expect(notesOf("fresh")).toEqual(["Idle", "Idle"]);
    expect((await nodeMetadata("fresh")).annotations?.[nodeState]).toBe("Idle");
    expect((await nodeMetadata("fresh")).labels?.[labels.devicePlugin]).toBe("Disabled");
    await report("fresh"); // triggers all controllers again
    await specIs("fresh", asWanted);
    await eventually(
      "resources",
      async () => (await nodeMetadata("fresh")).labels?.[labels.devicePlugin] === "Enabled",
      soon,
    );
    const writes = (await testCluster.audit()).slice(begin).filter(isWrite);
    const sent = (path: RegExp) => writes.filter(({ requestURI }) => path.test(requestURI)).map(({ verb }) => verb);
    // The node state: its annotations, then its spec. The node: its label and annotation, then the changed label.
    expect(sent(/sriovnetworknodestates\/fresh\?/)).toEqual(["patch", "patch"]);
    expect(sent(/\/nodes\/fresh/)).toEqual(["patch", "patch"]);
  });

  it("keeps its annotations and its daemon's request when its spec changes", async () => {
    await createNode(testCluster, "asks");
    await eventually("its annotations", () => notesOf("asks").includes("Idle"), soon);
    const ask = { metadata: { annotations: { [desiredState]: "Drain_Required" } } };
    await testCluster.as("daemon").patch(sriovNetworkNodeStates, "asks", ask);
    await report("asks");
    await specIs("asks", asWanted);
    await eventually("the answer", () => notesOf("asks")[1] !== "Idle", soon); // the operator has seen the request
    expect(notesOf("asks")[0]).toBe("Drain_Required");
    await byHand().patch(sriovNetworkNodePolicies, "fast", { spec: { numVfs: 5 } });
    const five = { ...asWanted.interfaces?.[0], numVfs: 5 };
    const asked = (node: string) => states.get(node)?.spec?.interfaces?.[0]?.numVfs;
    await eventually("another spec", () => asked("asks") === five.numVfs && asked("worker-1") === five.numVfs, soon);
    expect([notesOf("asks")[0], ...notesOf("worker-1")]).toEqual(["Drain_Required", "Idle", "Idle"]);
    await byHand().patch(sriovNetworkNodePolicies, "fast", { spec: { numVfs: 4 } });
    await specIs("worker-1", asWanted);
    await testCluster.as("daemon").patch(sriovNetworkNodeStates, "asks", {
      metadata: { annotations: { [desiredState]: "Idle" } },
    });
  });
});

describe("a node's state", () => {
  it.each<{ edit: string; spec: object | null }>([
    { edit: "another number of VFs", spec: { interfaces: [{ ...asWanted.interfaces?.[0], numVfs: 9 }] } },
    { edit: "another PF", spec: { interfaces: [...(asWanted.interfaces ?? []), { pciAddress: "0000:5e:00.0" }] } },
    { edit: "an RDMA mode", spec: { system: { rdmaMode: "exclusive" } } },
    { edit: "a bridge", spec: { bridges: { ovs: [{ name: "br0", uplinks: [{ pciAddress: pf }] }] } } },
    { edit: "nothing at all", spec: null },
  ])("is restored within seconds when somebody writes $edit into it (sriov-operator.md M-53)", async ({ spec }) => {
    const { generation = 0 } = (await byHand().patch(sriovNetworkNodeStates, "worker-1", { spec })).metadata;
    await eventually("the operator's write", () => generationOf("worker-1") > generation, soon);
    await specIs("worker-1", asWanted);
  });

  it("is created again within seconds when somebody deletes it (sriov-operator.md M-53)", async () => {
    const before = states.get("worker-1")?.metadata.uid;
    await testCluster.transport.request({ method: "DELETE", path: pathOf("worker-1") });
    await eventually(
      "a new node state",
      () => ![undefined, before].includes(states.get("worker-1")?.metadata.uid),
      soon,
    );
    await report("worker-1");
    await specIs("worker-1", asWanted);
  });

  it("gets a deadline as soon as configDaemonNodeSelector does not select its node (sriov-operator.md M-53)", async () => {
    const deadline = (node: string) => states.get(node)?.metadata.annotations?.[annotations.keepStateUntil];
    const select = (configDaemonNodeSelector: object | null) =>
      byHand().patch(sriovOperatorConfigs, "default", { spec: { configDaemonNodeSelector } });
    await select({ "kubernetes.io/hostname": "worker-2" });
    await eventually("a deadline", () => deadline("worker-1") !== undefined, soon);
    expect(deadline("worker-2")).toBeUndefined();
    await select(null);
    await eventually("no deadline", () => deadline("worker-1") === undefined, soon);
    await specIs("worker-1", asWanted);
  });

  it("is not written again by a restarted operator", async () => {
    const generation = generationOf("worker-1");
    operator.signal("TERM");
    await operator.exited;
    const begin = (await testCluster.audit()).length;
    operator = testCluster.startOperator();
    await createNode(testCluster, "worker-3"); // when its state exists, the operator has handled all others
    await eventually("the operator's start", () => states.get("worker-3"));
    await report("worker-3");
    await specIs("worker-3", asWanted);
    const since = (await testCluster.audit()).slice(begin).filter(isWrite);
    const written = since.filter(({ requestURI }) => requestURI.includes("/sriovnetworknodestates/worker-1"));
    expect([written.map(({ verb }) => verb), generationOf("worker-1")]).toEqual([[], generation]);
  });
});
