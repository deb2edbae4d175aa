// SPDX-License-Identifier: Apache-2.0
/**
 * `switchyard render` and a real cluster: from the files that users apply, the command prints the node states that
 * the operator writes, and from the live cluster the ones that it contains. The test plays the nodes' daemons.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  type InterfaceStatus,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import {
  createNode,
  createOperatorConfig,
  namespace,
  startTestCluster,
  type TestCluster,
  silentNarrator,
} from "@switchyard/test-cluster";
import { isRecord, objectPath } from "@switchyard/kube";
import { eventually, runProgram } from "@switchyard/testing";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { askServer, startRegisteredWebhook } from "./answers.ts";
import { objectOf, type Spec } from "../../src/crds/crd-cases.ts";
import { workspace, type Manifest } from "../../src/crds/crd-objects.ts";

const workers = ["worker-1", "worker-2"];
const policy = (name: string, spec: Spec): Manifest =>
  objectOf("SriovNetworkNodePolicy", { resourceName: name, ...spec }, name);

/** Stored before the webhook runs, so it has no priority. The operator treats that as 0, the highest priority. */
const early = policy("early", { numVfs: 2, nicSelector: { pfNames: ["ens3f0"] } });

/** Policies without the webhook's defaults. Sorting by name would give another result than sorting by priority. */
const files = [
  policy("z-general", { numVfs: 8, nicSelector: { rootDevices: ["0000:3b:00.0", "0000:5e:00.0"] } }),
  policy("special", { numVfs: 4, nicSelector: { pfNames: ["ens1f0#0-3"] }, priority: 10 }),
  policy("first", { numVfs: 8, nicSelector: { pfNames: ["ens1f1#0-3"] } }),
  policy("second", { numVfs: 8, nicSelector: { pfNames: ["ens1f1#4-7"] }, isRdma: true, priority: 98 }),
  policy("infiniband", { numVfs: 4, nicSelector: { pfNames: ["ib0"] }, linkType: "ib" }),
  policy("infiniband-dpdk", {
    numVfs: 4,
    nicSelector: { pfNames: ["ib1"] },
    linkType: "IB",
    deviceType: "vfio-pci",
  }),
];

describe("switchyard render", () => {
  let testCluster: TestCluster;

  beforeAll(async () => {
    testCluster = await startTestCluster(silentNarrator);
    await createOperatorConfig(testCluster);
    for (const name of workers) {
      await createNode(testCluster, name);
      await report(testCluster, name);
    }
    await testCluster.kubectl(["create", "-f", "-"], early);
    await startRegisteredWebhook(testCluster);
    const isAnswering = async () => (await askServer(testCluster, objectOf("SriovNetwork", {}))).allowed;
    await eventually("the webhook answers", isAnswering, { withinMs: 60_000 });
    for (const file of files) await testCluster.kubectl(["create", "-f", "-"], file);
  }, 600_000);
  afterAll(async () => {
    await testCluster[Symbol.asyncDispose]();
  }, 60_000);

  it("prints the same node states from files and from the cluster as the operator writes", async () => {
    const discovered = await Promise.all(workers.map((name) => discoveredState(testCluster, name)));
    const nodeObjects = await Promise.all(workers.map((name) => get(testCluster, objectPath(nodes, { name }))));
    const stored = await get(testCluster, objectPath(sriovNetworkNodePolicies, { name: "early", namespace }));
    expect(stored).not.toHaveProperty("spec.priority");

    const fromFiles = await render(["-f", "-"], [...nodeObjects, ...discovered, stored, ...files]);
    expect(fromFiles.map(({ name }) => name)).toEqual(workers);
    expect(winners(fromFiles)).toEqual({
      ens1f0: ["special"],
      ens1f1: ["second with RDMA", "first"],
      ens3f0: ["early"],
      ib0: ["infiniband with RDMA"],
      ib1: ["infiniband-dpdk"],
    });

    let inCluster: readonly unknown[] = [];
    await eventually("the operator has written all that is rendered", async () => {
      inCluster = await Promise.all(workers.map((name) => specInCluster(testCluster, name)));
      return isDeepStrictEqual(inCluster, fromFiles);
    }).catch(() => undefined);
    expect(inCluster).toEqual(fromFiles);
    expect(await render(["--kubeconfig", testCluster.cluster.kubeconfig])).toEqual(fromFiles);
  }, 120_000);
});

interface NodeSpec {
  readonly name: string;
  readonly spec: NonNullable<SriovNetworkNodeState["spec"]>;
}

/** Runs the command and returns the names and specs of the node states that it prints. */
async function render(flags: readonly string[], input: readonly unknown[] = []): Promise<readonly NodeSpec[]> {
  const program = join(workspace, "apps/cli/bin/switchyard.mjs");
  const args = [program, "render", ...flags, "-o", "json", "--only", "SriovNetworkNodeState"];
  const { stdout, stderr } = await runProgram(process.execPath, args, {
    input: input.map((object) => JSON.stringify(object)).join("\n---\n"),
  });
  expect(stderr).toBe("");
  const list: unknown = JSON.parse(stdout);
  const items: unknown = isRecord(list) ? list["items"] : undefined;
  if (!Array.isArray(items)) throw new TypeError("the output is no list");
  return items.map(nodeSpecOf);
}

async function specInCluster(testCluster: TestCluster, name: string): Promise<NodeSpec> {
  return nodeSpecOf(await get(testCluster, objectPath(sriovNetworkNodeStates, { name, namespace })));
}

function nodeSpecOf(state: unknown): NodeSpec {
  if (!isState(state)) throw new TypeError(`no node state: ${JSON.stringify(state)}`);
  return { name: state.metadata.name, spec: state.spec ?? {} };
}

function isState(value: unknown): value is SriovNetworkNodeState {
  return isRecord(value) && value["kind"] === "SriovNetworkNodeState" && isRecord(value["metadata"]);
}

/** For each PF of the first node the policies of its VF groups. */
function winners([first]: readonly NodeSpec[]): unknown {
  const groups = (first?.spec.interfaces ?? []).map(({ name = "", vfGroups = [] }) => [
    name,
    vfGroups.map(({ policyName = "", isRdma }) => (isRdma === true ? `${policyName} with RDMA` : policyName)),
  ]);
  return Object.fromEntries(groups);
}

/** The node state without spec, as a user would save it to a file: the devices that the daemon found. */
async function discoveredState(testCluster: TestCluster, name: string): Promise<unknown> {
  const state = await get(testCluster, objectPath(sriovNetworkNodeStates, { name, namespace }));
  if (!isState(state)) throw new TypeError("no node state");
  const { apiVersion, kind, status } = state;
  return { apiVersion, kind, metadata: { name, namespace }, status };
}

function get(testCluster: TestCluster, path: string): Promise<unknown> {
  return testCluster.transport.request({ method: "GET", path });
}

/** Reports two ports of an Intel card, one of another, and two InfiniBand ports, as the node's daemon would. */
async function report(testCluster: TestCluster, name: string): Promise<void> {
  const path = objectPath(sriovNetworkNodeStates, { name, namespace });
  await eventually(`the state of ${name}`, () => get(testCluster, path));
  const port = (pciAddress: string, nic: Partial<InterfaceStatus>): InterfaceStatus => ({
    pciAddress,
    mtu: 1500,
    totalvfs: 16,
    numVfs: 0,
    linkAdminState: "up",
    ...nic,
  });
  const intel = { vendor: "8086", deviceID: "158b", linkType: "ETH" };
  const mellanox = { vendor: "15b3", deviceID: "101b", linkType: "IB" };
  const interfaces = [
    port("0000:3b:00.0", { ...intel, name: "ens1f0" }),
    port("0000:3b:00.1", { ...intel, name: "ens1f1" }),
    port("0000:5e:00.0", { ...intel, name: "ens3f0" }),
    port("0000:af:00.0", { ...mellanox, name: "ib0" }),
    port("0000:af:00.1", { ...mellanox, name: "ib1" }),
  ];
  const body = { status: { interfaces, syncStatus: "Succeeded" } };
  const contentType = "application/merge-patch+json";
  await testCluster.transport.request({
    method: "PATCH",
    path: objectPath(sriovNetworkNodeStates, { name, namespace }, "status"),
    body,
    contentType,
  });
}
