// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, apiVersion, nodes as nodeType, sriovNetworkNodeStates, taints } from "@switchyard/api";
import { createDrainWorld, drainNamespace, pod, type DrainWorld } from "./testing/drain-world.ts";

const mark = annotations.cordonedBy;
const worker = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };

/** A node that is asked to drain and holds a pod with VFs that a budget keeps. */
async function stuckNode(name = "a"): Promise<DrainWorld> {
  const world = createDrainWorld();
  world.addNode(name);
  world.addNode("other");
  world.addPods(name, pod("web", { holdsVfs: true }), pod("idle"));
  world.budgets.set("web", "The disruption budget web needs 1 healthy pods and has 1 currently");
  await world.settle();
  world.ask(name, "Drain_Required");
  await world.settle();
  return world;
}

function podNames(world: DrainWorld, node: string): readonly string[] {
  return (world.podsOn.get(node) ?? []).map(({ name }) => name);
}

describe("a node without a drain request", () => {
  it("gets the missing handshake annotations and no conditions", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    await world.settle();
    const found = [annotations.desiredState, annotations.currentState].map((annotation) =>
      world.annotationOf(sriovNetworkNodeStates, "a", annotation),
    );
    expect(found).toEqual(["Idle", "Idle"]);
    expect(world.states.get("a")?.drain.conditions).toEqual([]);
    const writes = world.api.writes.length;
    world.restart();
    await world.settle();
    expect(world.api.writes.length).toBe(writes);
  });

  it("keeps a request that the daemon writes while the annotations are being created", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    world.api.caching = false;
    world.ask("a", "Drain_Required");
    await world.look("a");
    expect(world.annotationOf(sriovNetworkNodeStates, "a", annotations.desiredState)).toBe("Drain_Required");
  });

  it("is requeued when the annotations cannot be created, because status reports trigger no reconcile", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    const patch = { metadata: { name: "a", namespace: drainNamespace } };
    world.api.caching = false;
    world.api.put({ kind: "SriovNetworkNodeState", ...patch, status: { syncStatus: "Succeeded" } });
    expect(await world.look("a")).toEqual({ afterMs: expect.any(Number) });
    world.api.caching = true;
    await world.look("a");
    expect(world.answerOf("a")).toBe("Idle");
  });

  it("becomes schedulable if an operator died before it could uncordon it", async () => {
    const world = await stuckNode();
    world.ask("a", "Idle");
    world.annotate(sriovNetworkNodeStates, "a", { [annotations.currentState]: "Idle" });
    await world.settle();
    expect(world.specOf("a")).toEqual({});
  });
});

describe("a node that another leader drained a moment ago", () => {
  it("keeps its pods if the drain has ended but the cache of the new leader does not show it yet", async () => {
    const world = await stuckNode();
    world.budgets.clear();
    world.api.caching = false;
    const over = { [annotations.desiredState]: "Idle", [annotations.currentState]: "Idle" };
    world.annotate(sriovNetworkNodeStates, "a", over);
    world.restart();
    expect(await world.look("a")).toEqual({ afterMs: 100 });
    expect(podNames(world, "a")).toEqual(["web", "idle"]);
  });

  it("stays unschedulable if the drain has begun but the cache of the new leader does not show it yet", async () => {
    const world = await stuckNode();
    const [state] = world.api.list(sriovNetworkNodeStates);
    const idle = { [annotations.desiredState]: "Idle", [annotations.currentState]: "Idle" };
    const metadata = { name: "a", ...state?.metadata, annotations: idle, resourceVersion: "0" };
    const shown = { apiVersion, kind: "SriovNetworkNodeState", metadata, status: state?.["status"] };
    world.states.upsert(shown);
    world.annotate(nodeType, "a", { [annotations.nodeState]: "Idle" });
    world.restart();
    expect(await world.look("a")).toEqual({ afterMs: 100 });
    expect(world.specOf("a")).toMatchObject({ unschedulable: true });
  });
});

describe("a node with a slot", () => {
  it("is cordoned, loses the pods that use VFs, and is complete", async () => {
    const world = await stuckNode();
    expect([world.answerOf("a"), podNames(world, "a")]).toEqual(["Draining", ["web", "idle"]]);
    expect([world.specOf("a")["unschedulable"], world.annotationOf(nodeType, "a", mark)]).toEqual([true, "drain"]);
    expect(world.condition("a", "DrainProgressing")).toBe(
      "True EvictingPods: 1 pod left: apps/web cannot be evicted now: " +
        "The disruption budget web needs 1 healthy pods and has 1 currently",
    );

    world.budgets.clear();
    world.advance(1_000);
    await world.settle();
    expect([world.answerOf("a"), podNames(world, "a")]).toEqual(["DrainComplete", ["idle"]]);
    expect(world.condition("a", "DrainComplete")).toBe("True VfPodsGone: all evictable pods that use VFs are gone");

    world.ask("a", "Idle");
    await world.settle();
    expect([world.answerOf("a"), world.specOf("a"), world.annotationOf(nodeType, "a", mark)]).toEqual([
      "Idle",
      {},
      undefined,
    ]);
    expect(world.states.get("a")?.drain.conditions).toEqual([]);
    expect(world.events()).toEqual(["Normal DrainStarted a", "Normal DrainCompleted a", "Normal DrainReleased a"]);
  });

  it("is degraded once after 90 s, and is still drained when its pods can leave", async () => {
    const world = await stuckNode();
    world.advance(60_000);
    world.restart(); // the time counts on
    await world.settle();
    expect(world.condition("a", "DrainDegraded")).toMatch(/^False/);
    world.advance(31_000);
    await world.settle();
    expect(world.condition("a", "DrainDegraded")).toMatch(/^True PodsStay: 1 pod left: apps\/web/);
    world.advance(30_000);
    world.restart();
    await world.settle();
    expect(world.events().filter((event) => event === "Warning PodsStay a")).toHaveLength(1);
    world.budgets.clear();
    world.advance(30_000);
    await world.settle();
    expect([world.answerOf("a"), world.condition("a", "DrainDegraded")]).toEqual([
      "DrainComplete",
      "False VfPodsGone: all evictable pods that use VFs are gone",
    ]);
  });

  it("stays unschedulable after the drain if an administrator had cordoned it (sriov-operator.md M-13)", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    world.cordon("a");
    await world.settle();
    world.ask("a", "Drain_Required");
    await world.settle();
    world.ask("a", "Idle");
    await world.settle();
    expect([world.answerOf("a"), world.specOf("a")]).toEqual(["Idle", { unschedulable: true }]);
    const note = "the drain has ended; the node stays unschedulable because the operator did not cordon it";
    expect(world.news.find(({ reason }) => reason === "DrainReleased")?.note).toBe(note);
  });

  it("stays cordoned by the administrator after a drain that set the taint or was interrupted", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    world.cordon("a");
    const vnf = pod("vnf", { kind: "daemon-set", holdsVfs: true });
    for (const isCutOff of [false, true]) {
      world.addPods("a", vnf);
      world.ask("a", "Drain_Required");
      await world.settle();
      const taint = { key: taints.draining, effect: "NoSchedule" };
      expect([world.specOf("a"), world.annotationOf(nodeType, "a", mark)]).toEqual([
        { unschedulable: true, taints: [taint] },
        undefined,
      ]);
      world.ask("a", "Idle");
      if (isCutOff) world.annotate(sriovNetworkNodeStates, "a", { [annotations.currentState]: "Idle" });
      await world.settle();
      expect([world.answerOf("a"), world.specOf("a")]).toEqual(["Idle", { unschedulable: true, taints: [] }]);
    }
  });

  it("stays unschedulable if an administrator cordons it at the same time as the operator", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    await world.settle();
    world.beforeWrite = ({ path }) => {
      if (!path.endsWith("/nodes/a")) return;
      world.beforeWrite = () => undefined;
      world.cordon("a");
    };
    world.ask("a", "Drain_Required");
    await world.settle();
    world.ask("a", "Idle");
    await world.settle();
    expect([world.answerOf("a"), world.specOf("a")]).toEqual(["Idle", { unschedulable: true }]);
  });

  it("is reported as late after 90 s even if its pods cannot be listed", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    await world.settle();
    world.arePodsKnown = false;
    world.ask("a", "Drain_Required");
    await world.settle();
    expect(world.condition("a", "DrainProgressing")).toBe("True LookingForPods: listing the pods of the node");
    world.advance(90_000);
    await world.settle();
    expect(world.condition("a", "DrainDegraded")).toBe("True PodsStay: listing the pods of the node");
  });

  it("keeps an administrator's cordon that the cache does not show yet", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    await world.settle();
    world.ask("a", "Drain_Required");
    await world.decide();
    world.api.caching = false;
    world.cordon("a");
    world.api.caching = true;
    await world.settle();
    world.ask("a", "Idle");
    await world.settle();
    expect(world.specOf("a")).toEqual({ unschedulable: true });
  });

  it("is cordoned even if the cache shows a cordon that an administrator has just removed", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    await world.settle();
    world.ask("a", "Drain_Required");
    const [node] = world.api.list(nodeType);
    const metadata = { name: "a", ...node?.metadata, resourceVersion: "0" };
    const shown = { apiVersion: "v1", kind: "Node", metadata, spec: { unschedulable: true } };
    world.nodes.upsert(shown);
    await world.settle();
    expect([world.answerOf("a"), world.specOf("a")]).toEqual(["DrainComplete", { unschedulable: true }]);
  });

  it("loses the DaemonSet's pod that uses VFs, and keeps its successor away until the drain has ended", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    world.addPods("a", pod("vnf", { kind: "daemon-set", holdsVfs: true }), pod("logs", { kind: "daemon-set" }));
    await world.settle();
    world.ask("a", "Drain_Required");
    await world.settle();
    expect([world.answerOf("a"), podNames(world, "a")]).toEqual(["DrainComplete", ["logs"]]);
    expect(world.specOf("a")["taints"]).toEqual([{ key: taints.draining, effect: "NoSchedule" }]);
    world.ask("a", "Idle");
    await world.settle();
    expect(world.specOf("a")).toEqual({ taints: [] });
  });

  it("does not wait for pods that cannot be kept off the node, but names them", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    world.addPods("a", pod("vnf", { kind: "daemon-set", holdsVfs: true, toleratesDrain: true }));
    await world.settle();
    world.ask("a", "Drain_Required");
    await world.settle();
    expect(world.condition("a", "DrainComplete")).toContain(
      "these pods stay on the node and may lose their VFs: apps/vnf",
    );
    expect(world.events()).toContain("Warning VfsInUse a");
  });

  it("is not drained before a reboot if it is the only node of the cluster", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    world.addPods("a", pod("web", { holdsVfs: true }));
    await world.settle();
    world.ask("a", "Reboot_Required");
    await world.settle();
    expect([world.answerOf("a"), podNames(world, "a"), world.specOf("a")]).toEqual(["DrainComplete", ["web"], {}]);
    world.ask("a", "Idle");
    await world.settle();
    world.ask("a", "Drain_Required"); // which moves pods, as upstream does
    await world.settle();
    expect(podNames(world, "a")).toEqual([]);
  });

  it.each([
    { when: "during", isDone: false },
    { when: "after", isDone: true },
  ])("is drained of all pods if a reboot is requested $when a partial drain", async ({ isDone }) => {
    const world = await stuckNode();
    if (isDone) {
      world.budgets.clear();
      world.advance(1_000);
      await world.settle();
    }
    world.ask("a", "Reboot_Required");
    world.budgets.clear();
    world.advance(1_000);
    await world.settle();
    expect([world.answerOf("a"), podNames(world, "a")]).toEqual(["DrainComplete", []]);
    expect(world.condition("a", "DrainComplete")).toMatch(/^True AllPodsGone/);
    const writes = world.api.writes.length;
    await world.settle();
    expect(world.api.writes.length).toBe(writes);
  });

  it("is not reported as drained for a reboot that is requested just as a partial drain ends", async () => {
    const world = await stuckNode();
    const calledDrained: (readonly string[])[] = [];
    world.beforeWrite = ({ body }) => {
      if (!JSON.stringify(body).includes('"DrainComplete"') || !Array.isArray(body)) return;
      world.beforeWrite = () => undefined;
      world.ask("a", "Reboot_Required");
    };
    world.afterWrite = () => {
      if (world.answerOf("a") === "DrainComplete") calledDrained.push(podNames(world, "a"));
    };
    world.budgets.clear();
    world.advance(1_000);
    await world.settle();
    expect([world.answerOf("a"), ...calledDrained.flat()]).toEqual(["DrainComplete"]);
  });
});

describe("a node whose request is withdrawn, or that is gone", () => {
  it("is released at once, also from a drain that is stuck (sriov-operator.md M-52)", async () => {
    const world = await stuckNode();
    world.ask("a", "Idle");
    await world.settle();
    expect([world.answerOf("a"), world.specOf("a"), podNames(world, "a")]).toEqual(["Idle", {}, ["web", "idle"]]);
    expect(world.states.get("a")?.drain.conditions).toEqual([]);
  });

  it("is reported as released only once it is, and not if its daemon makes a new request meanwhile", async () => {
    const world = await stuckNode();
    world.ask("a", "Idle");
    world.beforeWrite = ({ body }) => {
      if (!Array.isArray(body)) return;
      world.beforeWrite = () => undefined;
      world.ask("a", "Drain_Required");
    };
    await world.settle();
    expect([world.answerOf("a"), world.specOf("a")["unschedulable"]]).toEqual(["Draining", true]);
    expect([world.events(), world.condition("a", "DrainProgressing")]).toEqual([
      ["Normal DrainStarted a"],
      expect.stringMatching(/^True EvictingPods: 1 pod left: apps\/web/),
    ]);
  });

  it("has a request as long as one of the two annotations does", async () => {
    const world = await stuckNode();
    world.annotate(nodeType, "a", { [annotations.nodeState]: "Idle" });
    await world.settle();
    expect(world.answerOf("a")).toBe("Draining");
    world.annotate(sriovNetworkNodeStates, "a", { [annotations.desiredState]: "Idle" });
    await world.settle();
    expect(world.answerOf("a")).toBe("Idle");
  });

  it("is drained for the stronger of two requests that differ", async () => {
    const world = await stuckNode();
    world.annotate(nodeType, "a", { [annotations.nodeState]: "Reboot_Required" });
    world.budgets.clear();
    world.advance(1_000);
    await world.settle();
    expect([world.answerOf("a"), podNames(world, "a")]).toEqual(["DrainComplete", []]);
  });

  it("can request a drain by the Node's annotation alone, as with upstream's operator", async () => {
    const world = createDrainWorld();
    world.addNode("a");
    await world.settle();
    world.annotate(nodeType, "a", { [annotations.nodeState]: "Drain_Required" });
    await world.settle();
    expect(world.answerOf("a")).toBe("DrainComplete");
  });

  it("becomes schedulable when its state is gone for good, but not when the state was deleted by mistake", async () => {
    const world = await stuckNode();
    world.api.delete(sriovNetworkNodeStates, { name: "a", namespace: drainNamespace });
    await world.settle();
    expect(world.specOf("a")["unschedulable"]).toBe(true);
    world.api.put({ kind: "Node", metadata: { name: "a", labels: { "node-role.kubernetes.io/worker": null } } });
    await world.settle();
    expect(world.specOf("a")).toEqual({});
  });

  it("leaves no request behind for a node that joins later under the same name", async () => {
    const world = await stuckNode();
    world.api.delete(nodeType, { name: "a" });
    await world.settle();
    const found = [annotations.desiredState, annotations.currentState].map((annotation) =>
      world.annotationOf(sriovNetworkNodeStates, "a", annotation),
    );
    expect([found, world.states.get("a")?.drain.conditions]).toEqual([["Idle", "Idle"], []]);
    world.budgets.clear();
    world.api.put({ kind: "Node", metadata: { name: "a", labels: worker }, spec: {} });
    await world.settle();
    expect([world.answerOf("a"), world.specOf("a"), podNames(world, "a")]).toEqual(["Idle", {}, ["web", "idle"]]);
  });

  it("is released when it leaves the node set during a drain, because its daemon is gone", async () => {
    const world = await stuckNode();
    const label = "node-role.kubernetes.io/worker";
    world.api.put({ kind: "Node", metadata: { name: "a", labels: { [label]: null } } });
    world.budgets.clear();
    await world.settle();
    expect([world.answerOf("a"), world.specOf("a"), podNames(world, "a")]).toEqual(["Idle", {}, ["web", "idle"]]);
    expect(world.states.get("a")?.drain.conditions).toEqual([]);
    world.api.put({ kind: "Node", metadata: { name: "a", labels: { [label]: "" } } });
    await world.settle();
    expect(world.answerOf("a")).toBe("DrainComplete");
  });

  it("loses the operator's marks when the external drainer that took over has finished", async () => {
    const world = await stuckNode();
    world.addPods("a", pod("vnf", { kind: "daemon-set", holdsVfs: true }));
    world.advance(1_000);
    await world.settle();
    const other = { [annotations.useExternalDrainer]: "true", [annotations.currentState]: "DrainComplete" };
    world.annotate(sriovNetworkNodeStates, "a", other);
    await world.settle();
    expect(world.specOf("a")["taints"]).toHaveLength(1);
    world.ask("a", "Idle");
    world.annotate(sriovNetworkNodeStates, "a", { [annotations.currentState]: "Idle" });
    await world.settle();
    expect([world.specOf("a"), world.annotationOf(nodeType, "a", mark)]).toEqual([{ taints: [] }, undefined]);
  });

  it("is left unchanged when an external drainer takes over during a drain", async () => {
    const world = await stuckNode();
    world.annotate(sriovNetworkNodeStates, "a", { [annotations.useExternalDrainer]: "true" });
    world.budgets.clear();
    world.advance(30_000);
    await world.settle();
    expect([world.answerOf("a"), podNames(world, "a")]).toEqual(["Draining", ["web", "idle"]]);
    expect([world.specOf("a")["unschedulable"], world.states.get("a")?.drain.conditions]).toEqual([true, []]);
  });
});

describe("drains on OpenShift", () => {
  const updated = { configuration: { name: "rendered-1" } };

  function openshift(pool: { readonly spec?: object; readonly status?: object } = {}): DrainWorld {
    const world = createDrainWorld({ clusterType: "openshift" });
    for (const name of ["a", "b"]) world.addNode(name, {}, { [annotations.desiredMachineConfig]: "rendered-1" });
    world.addPool("all", { maxUnavailable: 2 });
    const ownerReferences = [{ apiVersion, kind: "MachineConfigPool", name: "worker", uid: "u" }];
    world.api.put({ kind: "MachineConfig", metadata: { name: "rendered-1", ownerReferences } });
    const { spec = updated, status = updated } = pool;
    world.api.put({ kind: "MachineConfigPool", metadata: { name: "worker" }, spec, status });
    return world;
  }

  function poolIn({ api }: DrainWorld) {
    const found = api.list({ group: "", version: "", kind: "MachineConfigPool", plural: "", namespaced: false })[0];
    return { spec: found?.["spec"], state: found?.metadata.annotations?.[annotations.machineConfigPoolState] };
  }

  it("pause the node's MachineConfigPool until no node of the pool has a drain", async () => {
    const world = openshift();
    await world.settle();
    world.ask("a", "Drain_Required");
    world.ask("b", "Drain_Required");
    await world.settle();
    expect([world.answerOf("a"), world.answerOf("b")]).toEqual(["DrainComplete", "DrainComplete"]);
    expect(poolIn(world)).toEqual({ spec: { ...updated, paused: true }, state: "Paused" });
    world.ask("a", "Idle");
    await world.settle();
    expect([world.answerOf("a"), poolIn(world).state]).toEqual(["Idle", "Paused"]);
    world.ask("b", "Idle");
    await world.endPauses();
    expect(poolIn(world).state).toBe("Paused"); // b is not schedulable yet
    await world.settle();
    expect([world.answerOf("b"), poolIn(world)]).toEqual([
      "Idle",
      { spec: { ...updated, paused: false }, state: "Idle" },
    ]);
  });

  it("keep the pause for a node of the pool that waits for a slot", async () => {
    const world = openshift();
    world.addPool("all", { maxUnavailable: 1 });
    await world.settle();
    world.ask("a", "Drain_Required");
    world.ask("b", "Drain_Required");
    await world.settle();
    world.addPool("all", { maxUnavailable: 0 });
    world.ask("a", "Idle");
    await world.settle();
    expect([world.answerOf("a"), world.answerOf("b"), poolIn(world).state]).toEqual(["Idle", "Idle", "Paused"]);
    world.ask("b", "Idle");
    await world.settle();
    expect(poolIn(world).state).toBe("Idle");
  });

  it.each([
    { what: "the node", types: [nodeType] },
    { what: "the node with its state", types: [nodeType, sriovNetworkNodeStates] },
  ])("end the pause if $what is deleted during the drain", async ({ types }) => {
    const world = openshift();
    await world.settle();
    world.ask("a", "Drain_Required");
    await world.settle();
    expect(poolIn(world).state).toBe("Paused");
    for (const type of types)
      world.api.delete(type, { name: "a", ...(type.namespaced && { namespace: drainNamespace }) });
    await world.settle();
    expect(poolIn(world)).toEqual({ spec: { ...updated, paused: false }, state: "Idle" });
  });

  it("wait while the pool is being updated, and report it", async () => {
    const world = openshift({ status: { configuration: { name: "rendered-0" } } });
    await world.settle();
    world.ask("a", "Drain_Required");
    await world.settle();
    expect(world.condition("a", "DrainProgressing")).toBe(
      'True WaitingForMachineConfigPool: waiting for MachineConfigPool "worker" to finish its update',
    );
    expect([world.specOf("a"), poolIn(world).state]).toEqual([{}, undefined]);
    world.api.put({ kind: "MachineConfigPool", metadata: { name: "worker" }, status: updated });
    await world.settle();
    expect([world.answerOf("a"), poolIn(world).state]).toEqual(["DrainComplete", "Paused"]);
  });

  it("end the pause again when an update has begun meanwhile", async () => {
    const world = openshift();
    await world.settle();
    world.api.fault = ({ method, body }) => {
      if (method !== "PATCH" || !JSON.stringify(body).includes('"paused":true')) return;
      world.api.put({
        kind: "MachineConfigPool",
        metadata: { name: "worker" },
        spec: { configuration: { name: "rendered-2" } },
      });
    };
    world.ask("a", "Drain_Required");
    await world.settle();
    expect(poolIn(world)).toEqual({ spec: { configuration: { name: "rendered-2" }, paused: false }, state: "Idle" });
    expect(world.answerOf("a")).toBe("Draining");
  });

  it("never end an administrator's pause", async () => {
    const world = openshift({ spec: { ...updated, paused: true } });
    await world.settle();
    world.ask("a", "Drain_Required");
    await world.settle();
    world.ask("a", "Idle");
    await world.settle();
    expect([world.answerOf("a"), poolIn(world)]).toEqual(["Idle", { spec: { ...updated, paused: true } }]);
  });

  it("continue if the cluster has no MachineConfigPools", async () => {
    const world = createDrainWorld({ clusterType: "openshift" });
    world.addNode("plain");
    world.addNode("hosted", {}, { [annotations.desiredMachineConfig]: "none" });
    world.addPool("all", {});
    await world.settle();
    world.ask("plain", "Drain_Required");
    world.ask("hosted", "Drain_Required");
    await world.settle();
    expect([world.answerOf("plain"), world.answerOf("hosted")]).toEqual(["DrainComplete", "DrainComplete"]);
  });
});

describe("a drained node whose daemon makes no progress", () => {
  /** Node a, drained. */
  async function drainedNode() {
    const world = createDrainWorld();
    world.addNode("a");
    await world.settle();
    world.ask("a", "Drain_Required");
    await world.settle();
    expect(world.answerOf("a")).toBe("DrainComplete");
    return world;
  }

  const silent = "node a has been drained since 2026-11-20T12:00:00Z and keeps its slot: its config daemon";

  it("is named as the holder of the slot, is stalled after 5 minutes, and keeps its slot", async () => {
    const world = await drainedNode();
    expect(await world.look("a")).toEqual({ afterMs: 5 * 60_000 });
    const holds = "nodes in no pool: node a holds the drain slot, DrainComplete since 2026-11-20T12:00:00Z";
    expect(await world.defaultPool()).toBe(`DrainDegraded False: ${holds}`);

    world.advance(5 * 60_000);
    await world.look("a");
    const stalled = `${silent} has reported nothing since then`;
    expect(world.condition("a", "DrainDegraded")).toBe(`True DaemonStalled: ${stalled}`);
    expect(world.condition("a", "DrainComplete")).toMatch(/^True VfPodsGone/);
    expect(await world.defaultPool()).toBe(`DrainDegraded True: nodes in no pool: ${stalled}`);
    expect(world.events()).toContain("Warning DaemonStalled a");

    const writes = world.api.writes.length;
    world.restart();
    await world.look("a");
    expect([world.answerOf("a"), world.api.writes.length]).toEqual(["DrainComplete", writes]);
  });

  it("is no longer stalled once its daemon reports, and no condition is left when the drain has ended", async () => {
    const world = await drainedNode();
    world.advance(6 * 60_000);
    await world.look("a");
    expect(world.condition("a", "DrainDegraded")).toMatch(/^True DaemonStalled/);
    const entry = { manager: "switchyard-config-daemon", operation: "Apply", subresource: "status" };
    const managedFields = [{ ...entry, time: "2026-11-20T12:06:00Z" }];
    const place = { name: "a", namespace: drainNamespace };
    world.api.put({ kind: "SriovNetworkNodeState", metadata: { ...place, managedFields } });
    await world.look("a");
    expect(world.condition("a", "DrainDegraded")).toMatch(/^False VfPodsGone/);
    expect(await world.defaultPool()).toMatch(/^DrainDegraded False: /);

    world.ask("a", "Idle");
    await world.settle();
    expect(world.states.get("a")?.drain.conditions).toEqual([]);
    expect(await world.defaultPool()).toBe("");
    const writes = world.api.writes.length;
    await world.defaultPool();
    expect(world.api.writes.length).toBe(writes);
  });

  it("is reported by its pool and not by the SriovOperatorConfig if it is in a pool", async () => {
    const world = createDrainWorld();
    world.addPool("racks", { nodeSelector: { matchLabels: { rack: "1" } } });
    world.addNode("a", { rack: "1" });
    await world.settle();
    world.ask("a", "Drain_Required");
    await world.settle();
    expect([world.answerOf("a"), await world.defaultPool()]).toEqual(["DrainComplete", ""]);
  });
});
