// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, type SriovNetworkNodeState } from "@switchyard/api";
import { KubeError } from "@switchyard/kube";
import { fieldManagers } from "../field-managers.ts";
import { createHeldResets } from "./held-resets.ts";
import { createNodeStateReconciler } from "./node-state-reconciler.ts";
import type { MassLoss } from "./mass-loss.ts";
import type { FindResetHold, ResetHold } from "./reset-hold.ts";
import { createCluster, createKeepingWriter, nic } from "../testing/cluster.ts";

const never = new AbortController().signal;
const nowMs = Date.parse("2026-11-20T12:00:00Z");

interface SetUpOptions {
  readonly configExists?: boolean;
  readonly findResetHold?: FindResetHold;
  readonly findPoolHold?: FindResetHold;
  readonly massLoss?: MassLoss;
  /** Milliseconds until the last deletion counts. */
  readonly remainingMs?: () => number;
}

function setUp(options: SetUpOptions = {}) {
  const cluster = createCluster();
  const kept = createKeepingWriter<SriovNetworkNodeState>();
  const removed: string[] = [];
  const heldResets = createHeldResets();
  const reconcile = createNodeStateReconciler({
    ...cluster,
    writer: kept.writer,
    configExists: () => Promise.resolve(options.configExists ?? true),
    findResetHold: options.findResetHold ?? (() => Promise.resolve(undefined)),
    findPoolHold: options.findPoolHold ?? (() => Promise.resolve(undefined)),
    massLoss: options.massLoss ?? (() => undefined),
    heldResets,
    deletions: { remainingMs: options.remainingMs ?? (() => 0) },
    removeAnnotation(name, annotation) {
      removed.push(`${name} ${annotation}`);
      return Promise.resolve();
    },
    namespace: "sriov-network-operator",
    nowMs: () => nowMs,
  });
  return { ...cluster, ...kept, removed, heldResets, reconcile: (name: string) => reconcile(name, never) };
}

/** A configured node, worker-1, that loses its only policy. `spec` is what it had. */
async function losePolicy(options: SetUpOptions) {
  const world = setUp(options);
  world.addConfig();
  world.addNode("worker-1");
  world.addPolicy("fast");
  const status = { interfaces: [nic({ owned: true })] };
  world.setState("worker-1", { status });
  expect(await world.reconcile("worker-1")).toBeUndefined();
  const spec = world.applied.get("worker-1")?.spec ?? {};
  world.setState("worker-1", { spec, status });
  world.removePolicy("fast");
  return { ...world, spec };
}

describe("createNodeStateReconciler", () => {
  it("creates one state for a node of the node set, owned by the SriovOperatorConfig", async () => {
    const { addConfig, addNode, reconcile, applied } = setUp();
    addConfig();
    addNode("worker-1");
    await reconcile("worker-1");
    expect(applied.get("worker-1")).toEqual({
      metadata: {
        name: "worker-1",
        annotations: { [annotations.desiredState]: "Idle", [annotations.currentState]: "Idle" },
        ownerReferences: [
          {
            apiVersion: "sriovnetwork.openshift.io/v1",
            kind: "SriovOperatorConfig",
            name: "default",
            uid: "uid-default",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { interfaces: [] },
    });
  });

  it.each([
    { on: "Drain_Required", requests: "Drain_Required" },
    { on: "Reboot_Required", requests: "Reboot_Required" },
    { on: "Idle", requests: "Idle" },
    { on: "../../x", requests: "Idle" },
  ])("creates a state with the request of its Node, here $on, which a deleted state has left", async (request) => {
    const { addConfig, addNode, reconcile, applied } = setUp();
    addConfig();
    addNode("worker-1", {}, { [annotations.nodeState]: request.on });
    await reconcile("worker-1");
    expect(applied.get("worker-1")?.metadata.annotations).toEqual({
      [annotations.desiredState]: request.requests,
      [annotations.currentState]: "Idle",
    });
  });

  it("creates none for a SriovOperatorConfig that is gone although the cache still shows it", async () => {
    const { addConfig, addNode, setState, reconcile, applied } = setUp({ configExists: false });
    addConfig();
    for (const name of ["worker-1", "worker-2"]) addNode(name);
    setState("worker-2");
    expect([await reconcile("worker-1"), await reconcile("worker-2")]).toEqual([{ afterMs: 5_000 }, undefined]);
    expect([...applied.keys()]).toEqual(["worker-2"]);
  });

  it("does not apply a new state with force, because the cache may not show an existing one yet", async () => {
    const { addConfig, addNode, reconcile, options } = setUp();
    addConfig();
    addNode("worker-1");
    await reconcile("worker-1");
    expect(options.get("worker-1")).toEqual({ force: false });
  });

  it("includes the annotations that it still owns, and then names the resourceVersion", async () => {
    const { addConfig, addNode, setState, reconcile, applied, options, states } = setUp();
    addConfig();
    addNode("worker-1");
    const own = (...names: readonly string[]) => {
      const fieldsV1 = {
        "f:metadata": { "f:annotations": Object.fromEntries(names.map((name) => [`f:${name}`, {}])) },
      };
      return [{ manager: fieldManagers.nodeState, operation: "Apply", fieldsV1 }];
    };
    const { desiredState, currentState } = annotations;
    const notes = { [desiredState]: "Drain_Required", [currentState]: "Idle" };
    setState("worker-1", { spec: {} }, notes, own(currentState));
    await reconcile("worker-1");
    const version = states.observed({ name: "worker-1", namespace: "sriov-network-operator" })?.resourceVersion;
    expect(applied.get("worker-1")?.metadata.annotations).toEqual({ [currentState]: "Idle" });
    expect(options.get("worker-1")).toEqual({ seenVersion: version });

    setState("worker-1", { spec: {} }, { ...notes, [currentState]: "Draining" }, own());
    await reconcile("worker-1");
    expect([applied.get("worker-1")?.metadata.annotations, options.get("worker-1")]).toEqual([undefined, {}]);
  });

  it("requeues if another client has just written the state", async () => {
    const { addConfig, addNode, reconcile, writer, mergeResults } = setUp();
    addConfig();
    addNode("worker-1");
    writer.apply = () => Promise.reject(new KubeError("PATCH", "Conflict", { status: 409 }));
    expect(await reconcile("worker-1")).toEqual({ afterMs: expect.any(Number) });
    expect(mergeResults.get("worker-1")).toBeUndefined();
  });

  it("manages nothing without a SriovOperatorConfig", async () => {
    const { addNode, reconcile, applied } = setUp();
    addNode("worker-1");
    await reconcile("worker-1");
    expect(applied.size).toBe(0);
  });

  it("creates no state for control plane nodes", async () => {
    const { addConfig, nodes, reconcile, applied } = setUp();
    addConfig();
    nodes.upsert({ apiVersion: "v1", kind: "Node", metadata: { name: "control", labels: {} } });
    await reconcile("control");
    expect(applied.size).toBe(0);
  });

  it("keeps the spec before the daemon's first report", async () => {
    const { addConfig, addNode, setState, reconcile, applied } = setUp();
    const spec = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 4 }] };
    addConfig();
    addNode("worker-1");
    setState("worker-1", { spec });
    await reconcile("worker-1");
    expect(applied.get("worker-1")?.spec).toEqual(spec);
  });

  it("merges the policies for the node's NICs, and keeps the result", async () => {
    const { addConfig, addNode, addPolicy, setState, reconcile, applied, mergeResults } = setUp();
    addConfig();
    addNode("worker-1");
    addPolicy("fast");
    addPolicy("wrong", { nicSelector: { pfNames: ["ens1f0#5-2"] } });
    setState("worker-1", { status: { interfaces: [nic()] } });
    await reconcile("worker-1");
    expect(applied.get("worker-1")?.spec?.interfaces?.map(({ pciAddress, numVfs }) => [pciAddress, numVfs])).toEqual([
      ["0000:3b:00.0", 2],
    ]);
    expect(mergeResults.get("worker-1")?.problems.map(({ policyName }) => policyName)).toEqual(["wrong"]);
  });

  it("keeps the spec of a node whose policies are lost with their kind, and resets it when that is over", async () => {
    const asked: (string | undefined)[] = [];
    let hold: ResetHold | undefined = { reason: "DefinitionTerminating", message: "it is being deleted", afterMs: 7 };
    const findResetHold = (specWrittenAt: string | undefined) => {
      asked.push(specWrittenAt);
      return Promise.resolve(hold);
    };
    const { addConfig, addNode, addPolicy, removePolicy, setState, reconcile, applied, heldResets } = setUp({
      findResetHold,
    });
    addConfig();
    addNode("worker-1");
    addPolicy("fast");
    const status = { interfaces: [nic({ owned: true })] };
    setState("worker-1", { status });
    expect(await reconcile("worker-1")).toBeUndefined();
    const spec = applied.get("worker-1")?.spec ?? {};
    expect([spec.interfaces?.length, asked]).toEqual([1, []]);

    const time = "2026-11-20T11:00:00Z";
    setState("worker-1", { spec, status }, {}, [{ manager: fieldManagers.nodeState, operation: "Apply", time }]);
    removePolicy("fast");
    expect(await reconcile("worker-1")).toEqual({ afterMs: 7 });
    expect([applied.get("worker-1")?.spec, asked]).toEqual([spec, [time]]);
    expect(heldResets.list()).toEqual([["worker-1", hold]]);

    hold = undefined;
    expect(await reconcile("worker-1")).toBeUndefined();
    expect(applied.get("worker-1")?.spec).toEqual({ interfaces: [], unselected: ["0000:3b:00.0"] });
    expect(heldResets.list()).toEqual([]);
  });

  it("keeps the spec of a node that lost all its policies with most others, until the loss is over", async () => {
    const asked: (readonly [string, boolean])[] = [];
    let hold: ResetHold | undefined = { reason: "MassLoss", message: "3 of 4 nodes", afterMs: 7 };
    const massLoss: MassLoss = (node, losesAll) => {
      asked.push([node, losesAll]);
      return losesAll ? hold : undefined;
    };
    const { reconcile, applied, heldResets, spec } = await losePolicy({ massLoss });
    expect(await reconcile("worker-1")).toEqual({ afterMs: 7 });
    expect([applied.get("worker-1")?.spec, heldResets.list()]).toEqual([spec, [["worker-1", hold]]]);
    hold = undefined;
    expect(await reconcile("worker-1")).toBeUndefined();
    expect([applied.get("worker-1")?.spec?.interfaces, heldResets.list()]).toEqual([[], []]);
    expect(asked).toEqual([false, true, true].map((losesAll) => ["worker-1", losesAll]));
  });

  it("moves no node back to the device plugin while the deletion of a pool may be part of its replacement", async () => {
    let remainingMs = 1_200;
    const { addConfig, addNode, setState, reconcile, applied } = setUp({ remainingMs: () => remainingMs });
    addConfig();
    addNode("worker-1");
    setState("worker-1", { spec: { interfaces: [], allocation: "dra" }, status: { interfaces: [nic({})] } });
    expect([await reconcile("worker-1"), applied.size]).toEqual([{ afterMs: 1_200 }, 0]);
    remainingMs = 0;
    expect(await reconcile("worker-1")).toBeUndefined();
    expect(applied.get("worker-1")?.spec).toEqual({ interfaces: [] });
  });

  it("keeps RDMA mode and claims of a node whose pool may be lost with its kind, and follows its policies meanwhile", async () => {
    let hold: ResetHold | undefined = { reason: "DefinitionMissing", message: "no", objects: "pools", afterMs: 7 };
    const { addConfig, addNode, addPolicy, setState, reconcile, applied, heldResets } = setUp({
      findPoolHold: () => Promise.resolve(hold),
    });
    addConfig();
    addNode("worker-1");
    const spec = { interfaces: [], allocation: "dra", system: { rdmaMode: "exclusive" } } as const;
    setState("worker-1", { spec, status: { interfaces: [nic({})] } });
    addPolicy("fast");
    expect(await reconcile("worker-1")).toEqual({ afterMs: 7 });
    expect(applied.get("worker-1")?.spec).toMatchObject({ ...spec, interfaces: [{ pciAddress: "0000:3b:00.0" }] });
    expect(heldResets.list()).toEqual([["worker-1", hold]]);
    hold = undefined;
    expect(await reconcile("worker-1")).toBeUndefined();
    expect(Object.keys(applied.get("worker-1")?.spec ?? {})).toEqual(["interfaces"]);
    expect(heldResets.list()).toEqual([]);
  });

  it("takes nothing from a node while the deletion of a policy may be part of its replacement", async () => {
    let remainingMs = 1_200;
    const lost = await losePolicy({ remainingMs: () => remainingMs });
    const { addPolicy, removePolicy, reconcile, applied, spec } = lost;
    expect(await reconcile("worker-1")).toEqual({ afterMs: 1_200 });
    expect(applied.get("worker-1")?.spec).toEqual(spec);
    addPolicy("fast");
    expect(await reconcile("worker-1")).toBeUndefined();
    expect(applied.get("worker-1")?.spec).toEqual(spec);
    removePolicy("fast");
    remainingMs = 0;
    expect(await reconcile("worker-1")).toBeUndefined();
    expect(applied.get("worker-1")?.spec).toEqual({ interfaces: [], unselected: ["0000:3b:00.0"] });
  });

  it("keeps the state of a node that left until a deadline, and then deletes it", async () => {
    const { addConfig, setState, reconcile, applied, deleted } = setUp();
    addConfig();
    setState("gone", { spec: { interfaces: [] } });
    expect(await reconcile("gone")).toEqual({ afterMs: 60_000 });
    const stamp = { "sriovnetwork.openshift.io/keep-state-until": "2026-11-20T12:01:00Z" };
    expect(applied.get("gone")?.metadata.annotations).toEqual(stamp);
    setState("gone", {}, { "sriovnetwork.openshift.io/keep-state-until": "2026-11-20T11:59:00Z" });
    expect(await reconcile("gone")).toBeUndefined();
    expect(deleted).toEqual(["gone"]);
  });

  it("keeps all states as they are while configDaemonNodeSelector has a label that no node can have", async () => {
    const { addConfig, addNode, setState, reconcile, applied, deleted } = setUp();
    addConfig({ configDaemonNodeSelector: { 'node-role.kubernetes.io/worker"': "true" } });
    addNode("worker-1");
    setState("worker-1", { spec: { interfaces: [] } });
    expect(await reconcile("worker-1")).toBeUndefined();
    expect([applied.size, deleted]).toEqual([0, []]);
    expect(await reconcile("gone")).toBeUndefined();
  });

  it("removes the deadline when the node is back, whoever set it", async () => {
    const { addConfig, addNode, setState, reconcile, removed } = setUp();
    addConfig();
    addNode("back");
    setState("back", {}, { "sriovnetwork.openshift.io/keep-state-until": "2026-11-20T12:30:00Z" });
    await reconcile("back");
    expect(removed).toEqual(["back sriovnetwork.openshift.io/keep-state-until"]);
  });
});
