// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, labels } from "@switchyard/api";
import { KubeError } from "@switchyard/kube";
import { createCluster, nic } from "../testing/cluster.ts";
import { createNodeLabelReconciler, nodeAffectedByResources } from "./node-label-reconciler.ts";

const spec = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 2, vfGroups: [{ resourceName: "fast" }] }] };
const status = { interfaces: [nic()] };

/** A cluster with a SriovOperatorConfig, and the label and request of each patched node. */
function setUp({ whenStatesAreWritten = (): Promise<void> => Promise.resolve() } = {}) {
  const cluster = createCluster();
  cluster.addConfig();
  const patched = new Map<string, string | null>();
  const requests = new Map<string, readonly [request: string | null, version: string | undefined]>();
  const answers: Error[] = [];
  const changes = new Map<string, Readonly<Record<string, string | null>>>();
  const reconcile = createNodeLabelReconciler({
    ...cluster,
    whenStatesAreWritten,
    patch(node, { labels: changed = {}, annotations: notes = {}, resourceVersion }) {
      const { name, labels: existing = {} } = node.metadata;
      changes.set(name, changed);
      const wanted = changed[labels.devicePlugin];
      if (wanted !== undefined && (existing[labels.devicePlugin] ?? null) !== wanted) patched.set(name, wanted);
      const request = notes[annotations.nodeState];
      if (request !== undefined) requests.set(name, [request, resourceVersion]);
      const answer = answers.shift();
      return answer === undefined ? Promise.resolve() : Promise.reject(answer);
    },
  });
  return {
    cluster,
    patched,
    changes,
    requests,
    answers,
    look: (node: string) => reconcile(node, new AbortController().signal),
  };
}

describe("the labels of a node that moves to ResourceClaims and back", () => {
  const vf = { pciAddress: "0000:3b:02.0", vfID: 0 };
  const since = "2026-01-01T00:00:00Z";
  const held = {
    ...vf,
    holder: { namespace: "a", name: "b", via: "device-plugin", resource: "c/fast", since },
  } as const;
  const known = { holders: { known: true } };
  const claims = { ...spec, allocation: "dra" } as const;
  it.each([
    { does: "starts the driver beside the plugin", of: { spec: claims, status }, plugin: "Enabled", driver: "Enabled" },
    {
      does: "keeps the plugin while a pod has a VF from it",
      of: { spec: claims, status: { interfaces: [nic({ Vfs: [held] })], ...known, offeredBy: "dra" } },
      plugin: "Enabled",
      driver: "Enabled",
    },
    {
      does: "keeps the plugin while it is not known who has VFs",
      of: { spec: claims, status: { interfaces: [nic({ Vfs: [vf] })], holders: { known: false }, offeredBy: "dra" } },
      plugin: "Enabled",
      driver: "Enabled",
    },
    {
      does: "ends the plugin when no pod has a VF from it",
      of: { spec: claims, status: { interfaces: [nic({ Vfs: [vf] })], ...known, offeredBy: "dra" } },
      plugin: "Disabled",
      driver: "Enabled",
    },
    {
      does: "starts the plugin again, and keeps the driver while claims have VFs",
      of: { spec, status: { ...status, offeredBy: "devicePlugin", publishedVfs: 2 } },
      plugin: "Enabled",
      driver: "Enabled",
    },
    {
      does: "ends the driver when no slice has a VF",
      of: { spec, status: { ...status, offeredBy: "devicePlugin", publishedVfs: 0 } },
      plugin: "Enabled",
      driver: null,
    },
  ] as const)("$does", async ({ of, plugin, driver }) => {
    const { cluster, changes, look } = setUp();
    cluster.addNode("node");
    cluster.setState("node", of);
    await look("node");
    expect(changes.get("node")).toEqual({ [labels.devicePlugin]: plugin, [labels.draDriver]: driver });
  });
});

describe("the device plugin's label", () => {
  it("is Enabled if the node has resources, and Disabled if it has none, or none any more", async () => {
    const { cluster, patched, look } = setUp();
    cluster.addNode("with");
    cluster.setState("with", { spec, status });
    for (const [name, own] of [
      ["without", { [labels.devicePlugin]: "Enabled" }],
      ["never", {}],
    ] as const) {
      cluster.addNode(name, own);
      cluster.setState(name, { spec: { interfaces: [{ pciAddress: "0000:3b:00.0" }] }, status });
    }
    for (const name of ["with", "without", "never"]) await look(name);
    expect(Object.fromEntries(patched)).toEqual({ with: "Enabled", without: "Disabled", never: "Disabled" });
  });

  it("is set after the node states are written", async () => {
    const written = Promise.withResolvers<undefined>();
    const { cluster, patched, look } = setUp({ whenStatesAreWritten: () => written.promise });
    cluster.addNode("node");
    cluster.setState("node", { spec: {}, status });
    const looked = look("node");
    cluster.setState("node", { spec, status });
    expect(patched.size).toBe(0);
    written.resolve(undefined);
    await looked;
    expect(patched.get("node")).toBe("Enabled");
  });

  it("is not changed before the daemon's first report", async () => {
    const { cluster, patched, look } = setUp();
    cluster.addNode("serving", { [labels.devicePlugin]: "Enabled" });
    await look("serving");
    cluster.setState("serving", { spec: {} });
    cluster.addNode("kept");
    cluster.setState("kept", { spec });
    for (const name of ["serving", "kept"]) await look(name);
    expect(patched.size).toBe(0);
  });

  it("is Disabled on a new node as soon as it has a state", async () => {
    const { cluster, patched, look } = setUp();
    cluster.addNode("new");
    await look("new");
    expect(patched.size).toBe(0);
    cluster.setState("new", { spec: {} });
    await look("new");
    expect(patched.get("new")).toBe("Disabled");
  });

  it("is removed from a node that left the node set, whoever set it", async () => {
    const { cluster, patched, look } = setUp();
    cluster.addNode("left", { "kubernetes.io/os": "windows", [labels.devicePlugin]: "Enabled" });
    cluster.setState("left", { spec, status });
    await look("left");
    expect(patched.get("left")).toBeNull();
  });

  it("is not changed without a SriovOperatorConfig", async () => {
    const { cluster, patched, look } = setUp();
    cluster.addNode("node", { "kubernetes.io/os": "windows", [labels.devicePlugin]: "Enabled" });
    cluster.operatorConfigs.remove({ name: "default", namespace: "sriov-network-operator" });
    await look("node");
    expect(patched.size).toBe(0);
  });
});

describe("the annotation of drain requests", () => {
  it("is Idle on a new node as soon as it has a state, unless the Node has just been written", async () => {
    const { cluster, requests, answers, look } = setUp();
    cluster.addNode("new");
    await look("new");
    expect(requests.size).toBe(0);
    cluster.setState("new", { spec: {} });
    answers.push(new KubeError("PATCH", "Conflict", { status: 409 }));
    expect(await look("new")).toEqual({ afterMs: expect.any(Number) });
    expect(await look("new")).toBeUndefined();
    expect(requests.get("new")).toEqual(["Idle", cluster.nodes.observed({ name: "new" })?.resourceVersion]);
  });

  it("keeps the daemon's value", async () => {
    const { cluster, requests, look } = setUp();
    const notes = { [annotations.nodeState]: "Drain_Required" };
    cluster.addNode("busy", {}, notes);
    cluster.setState("busy", { spec: {} });
    await look("busy");
    expect(requests.size).toBe(0);
  });
});

describe("nodeAffectedByResources", () => {
  it("returns the node if resources are added or removed, and not for the daemon's progress", () => {
    const { cluster } = setUp();
    const woken: string[] = [];
    cluster.states.subscribe((change) => {
      woken.push(...nodeAffectedByResources(change));
    });
    cluster.setState("node", { spec, status });
    cluster.setState("node", { spec, status: { ...status, syncStatus: "InProgress" } });
    cluster.setState("node", { spec: {}, status });
    expect(woken).toEqual(["node", "node"]);
  });
});
