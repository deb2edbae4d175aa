// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, apiVersion, nodes as nodeType, sriovNetworkNodeStates, taints } from "@switchyard/api";
import { createDrainCluster, drainNamespace, pod, type DrainCluster } from "./testing/drain-cluster.ts";

const mark = annotations.cordonedBy;
const worker = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };

/** A node with a drain request and a pod with VFs that a PodDisruptionBudget protects. */
async function stuckNode(name = "a"): Promise<DrainCluster> {
  const cluster = createDrainCluster();
  cluster.addNode(name);
  cluster.addNode("other");
  cluster.addPods(name, pod("web", { holdsVfs: true }), pod("idle"));
  cluster.budgets.set("web", "The disruption budget web needs 1 healthy pods and has 1 currently");
  await cluster.settle();
  cluster.requestDrain(name, "Drain_Required");
  await cluster.settle();
  return cluster;
}

function podNames(cluster: DrainCluster, node: string): readonly string[] {
  return (cluster.podsOn.get(node) ?? []).map(({ name }) => name);
}

describe("a node without a drain request", () => {
  it("gets the missing handshake annotations and no conditions", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    await cluster.settle();
    const found = [annotations.desiredState, annotations.currentState].map((annotation) =>
      cluster.annotationOf(sriovNetworkNodeStates, "a", annotation),
    );
    expect(found).toEqual(["Idle", "Idle"]);
    expect(cluster.states.get("a")?.drain.conditions).toEqual([]);
    const writes = cluster.api.writes.length;
    cluster.restart();
    await cluster.settle();
    expect(cluster.api.writes.length).toBe(writes);
  });

  it("keeps a request that the daemon writes while the annotations are being created", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    cluster.api.caching = false;
    cluster.requestDrain("a", "Drain_Required");
    await cluster.reconcile("a");
    expect(cluster.annotationOf(sriovNetworkNodeStates, "a", annotations.desiredState)).toBe("Drain_Required");
  });

  it("is requeued when the annotations cannot be created, because status reports trigger no reconcile", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    const patch = { metadata: { name: "a", namespace: drainNamespace } };
    cluster.api.caching = false;
    cluster.api.put({ kind: "SriovNetworkNodeState", ...patch, status: { syncStatus: "Succeeded" } });
    expect(await cluster.reconcile("a")).toEqual({ afterMs: expect.any(Number) });
    cluster.api.caching = true;
    await cluster.reconcile("a");
    expect(cluster.answerOf("a")).toBe("Idle");
  });

  it("becomes schedulable if an operator died before it could uncordon it", async () => {
    const cluster = await stuckNode();
    cluster.requestDrain("a", "Idle");
    cluster.annotate(sriovNetworkNodeStates, "a", { [annotations.currentState]: "Idle" });
    await cluster.settle();
    expect(cluster.specOf("a")).toEqual({});
  });
});

describe("a node that another leader drained a moment ago", () => {
  it("keeps its pods if the drain has ended but the cache of the new leader does not show it yet", async () => {
    const cluster = await stuckNode();
    cluster.budgets.clear();
    cluster.api.caching = false;
    const over = { [annotations.desiredState]: "Idle", [annotations.currentState]: "Idle" };
    cluster.annotate(sriovNetworkNodeStates, "a", over);
    cluster.restart();
    expect(await cluster.reconcile("a")).toEqual({ afterMs: 100 });
    expect(podNames(cluster, "a")).toEqual(["web", "idle"]);
  });

  it("stays unschedulable if the drain has begun but the cache of the new leader does not show it yet", async () => {
    const cluster = await stuckNode();
    const [state] = cluster.api.list(sriovNetworkNodeStates);
    const idle = { [annotations.desiredState]: "Idle", [annotations.currentState]: "Idle" };
    const metadata = { name: "a", ...state?.metadata, annotations: idle, resourceVersion: "0" };
    const shown = { apiVersion, kind: "SriovNetworkNodeState", metadata, status: state?.["status"] };
    cluster.states.upsert(shown);
    cluster.annotate(nodeType, "a", { [annotations.nodeState]: "Idle" });
    cluster.restart();
    expect(await cluster.reconcile("a")).toEqual({ afterMs: 100 });
    expect(cluster.specOf("a")).toMatchObject({ unschedulable: true });
  });
});

describe("a node with a slot", () => {
  it("is cordoned, loses the pods that use VFs, and is complete", async () => {
    const cluster = await stuckNode();
    expect([cluster.answerOf("a"), podNames(cluster, "a")]).toEqual(["Draining", ["web", "idle"]]);
    expect([cluster.specOf("a")["unschedulable"], cluster.annotationOf(nodeType, "a", mark)]).toEqual([true, "drain"]);
    expect(cluster.condition("a", "DrainProgressing")).toBe(
      "True EvictingPods: 1 pod left: apps/web cannot be evicted now: " +
        "The disruption budget web needs 1 healthy pods and has 1 currently",
    );

    cluster.budgets.clear();
    cluster.advance(1_000);
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster, "a")]).toEqual(["DrainComplete", ["idle"]]);
    expect(cluster.condition("a", "DrainComplete")).toBe("True VfPodsGone: all evictable pods that use VFs are gone");

    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.specOf("a"), cluster.annotationOf(nodeType, "a", mark)]).toEqual([
      "Idle",
      {},
      undefined,
    ]);
    expect(cluster.states.get("a")?.drain.conditions).toEqual([]);
    expect(cluster.events()).toEqual(["Normal DrainStarted a", "Normal DrainCompleted a", "Normal DrainReleased a"]);
    expect(cluster.nodeEvents()).toHaveLength(3);
    expect(cluster.nodeEvents()[2]).toMatch(/^DrainReleased: .* \(SriovNetworkNodeState .*\/a\)$/);
  });

  it("is degraded once after 90 s, and is still drained when its pods can leave", async () => {
    const cluster = await stuckNode();
    cluster.advance(60_000);
    cluster.restart(); // the time continues
    await cluster.settle();
    expect(cluster.condition("a", "DrainDegraded")).toMatch(/^False/);
    cluster.advance(31_000);
    await cluster.settle();
    expect(cluster.condition("a", "DrainDegraded")).toMatch(/^True PodsStay: 1 pod left: apps\/web/);
    cluster.advance(30_000);
    cluster.restart();
    await cluster.settle();
    expect(cluster.events().filter((event) => event === "Warning PodsStay a")).toHaveLength(1);
    cluster.budgets.clear();
    cluster.advance(30_000);
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.condition("a", "DrainDegraded")]).toEqual([
      "DrainComplete",
      "False VfPodsGone: all evictable pods that use VFs are gone",
    ]);
  });

  it("stays unschedulable after the drain if an administrator had cordoned it (sriov-operator.md M-13)", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    cluster.cordon("a");
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.specOf("a")]).toEqual(["Idle", { unschedulable: true }]);
    const note = "the drain has ended; the node stays unschedulable because the operator did not cordon it";
    expect(cluster.news.find(({ reason }) => reason === "DrainReleased")?.note).toBe(note);
  });

  it("stays cordoned by the administrator after a drain that set the taint or was interrupted", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    cluster.cordon("a");
    const vnf = pod("vnf", { kind: "daemon-set", holdsVfs: true });
    for (const isCutOff of [false, true]) {
      cluster.addPods("a", vnf);
      cluster.requestDrain("a", "Drain_Required");
      await cluster.settle();
      const taint = { key: taints.draining, effect: "NoSchedule" };
      expect([cluster.specOf("a"), cluster.annotationOf(nodeType, "a", mark)]).toEqual([
        { unschedulable: true, taints: [taint] },
        undefined,
      ]);
      cluster.requestDrain("a", "Idle");
      if (isCutOff) cluster.annotate(sriovNetworkNodeStates, "a", { [annotations.currentState]: "Idle" });
      await cluster.settle();
      expect([cluster.answerOf("a"), cluster.specOf("a")]).toEqual(["Idle", { unschedulable: true, taints: [] }]);
    }
  });

  it("stays unschedulable if an administrator cordons it at the same time as the operator", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    await cluster.settle();
    cluster.beforeWrite = ({ path }) => {
      if (!path.endsWith("/nodes/a")) return;
      cluster.beforeWrite = () => undefined;
      cluster.cordon("a");
    };
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.specOf("a")]).toEqual(["Idle", { unschedulable: true }]);
  });

  it("is reported as late after 90 s even if its pods cannot be listed", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    await cluster.settle();
    cluster.arePodsKnown = false;
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    expect(cluster.condition("a", "DrainProgressing")).toBe("True LookingForPods: listing the pods of the node");
    cluster.advance(90_000);
    await cluster.settle();
    expect(cluster.condition("a", "DrainDegraded")).toBe("True PodsStay: listing the pods of the node");
  });

  it("keeps an administrator's cordon that the cache does not show yet", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    await cluster.assignSlots();
    cluster.api.caching = false;
    cluster.cordon("a");
    cluster.api.caching = true;
    await cluster.settle();
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect(cluster.specOf("a")).toEqual({ unschedulable: true });
  });

  it("is cordoned even if the cache shows a cordon that an administrator has just removed", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    const [node] = cluster.api.list(nodeType);
    const metadata = { name: "a", ...node?.metadata, resourceVersion: "0" };
    const shown = { apiVersion: "v1", kind: "Node", metadata, spec: { unschedulable: true } };
    cluster.nodes.upsert(shown);
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.specOf("a")]).toEqual(["DrainComplete", { unschedulable: true }]);
  });

  it("loses the DaemonSet's pod that uses VFs, and keeps its successor away until the drain has ended", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    cluster.addPods("a", pod("vnf", { kind: "daemon-set", holdsVfs: true }), pod("logs", { kind: "daemon-set" }));
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster, "a")]).toEqual(["DrainComplete", ["logs"]]);
    expect(cluster.specOf("a")["taints"]).toEqual([{ key: taints.draining, effect: "NoSchedule" }]);
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect(cluster.specOf("a")).toEqual({ taints: [] });
  });

  it("does not wait for pods that cannot be kept off the node, but names them", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    cluster.addPods("a", pod("vnf", { kind: "daemon-set", holdsVfs: true, toleratesDrain: true }));
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    expect(cluster.condition("a", "DrainComplete")).toContain(
      "these pods stay on the node and may lose their VFs: apps/vnf",
    );
    expect(cluster.events()).toContain("Warning VfsInUse a");
  });

  it("is not drained before a reboot if it is the only node of the cluster", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    cluster.addPods("a", pod("web", { holdsVfs: true }));
    await cluster.settle();
    cluster.requestDrain("a", "Reboot_Required");
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster, "a"), cluster.specOf("a")]).toEqual([
      "DrainComplete",
      ["web"],
      {},
    ]);
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required"); // a drain of VFs evicts pods even on the only node, as with upstream
    await cluster.settle();
    expect(podNames(cluster, "a")).toEqual([]);
  });

  it.each([
    { when: "during", isDone: false },
    { when: "after", isDone: true },
  ])("is drained of all pods if a reboot is requested $when a partial drain", async ({ isDone }) => {
    const cluster = await stuckNode();
    if (isDone) {
      cluster.budgets.clear();
      cluster.advance(1_000);
      await cluster.settle();
    }
    cluster.requestDrain("a", "Reboot_Required");
    cluster.budgets.clear();
    cluster.advance(1_000);
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster, "a")]).toEqual(["DrainComplete", []]);
    expect(cluster.condition("a", "DrainComplete")).toMatch(/^True AllPodsGone/);
    const writes = cluster.api.writes.length;
    await cluster.settle();
    expect(cluster.api.writes.length).toBe(writes);
  });

  it("is not reported as drained for a reboot that is requested just as a partial drain ends", async () => {
    const cluster = await stuckNode();
    const calledDrained: (readonly string[])[] = [];
    cluster.beforeWrite = ({ body }) => {
      if (!JSON.stringify(body).includes('"DrainComplete"') || !Array.isArray(body)) return;
      cluster.beforeWrite = () => undefined;
      cluster.requestDrain("a", "Reboot_Required");
    };
    cluster.afterWrite = () => {
      if (cluster.answerOf("a") === "DrainComplete") calledDrained.push(podNames(cluster, "a"));
    };
    cluster.budgets.clear();
    cluster.advance(1_000);
    await cluster.settle();
    expect([cluster.answerOf("a"), ...calledDrained.flat()]).toEqual(["DrainComplete"]);
  });
});

describe("a node whose request is withdrawn, or that is gone", () => {
  it("is released at once, also from a drain that is stuck (sriov-operator.md M-52)", async () => {
    const cluster = await stuckNode();
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.specOf("a"), podNames(cluster, "a")]).toEqual(["Idle", {}, ["web", "idle"]]);
    expect(cluster.states.get("a")?.drain.conditions).toEqual([]);
  });

  it("is reported as released only once it is, and not if its daemon makes a new request meanwhile", async () => {
    const cluster = await stuckNode();
    cluster.requestDrain("a", "Idle");
    cluster.beforeWrite = ({ body }) => {
      if (!Array.isArray(body)) return;
      cluster.beforeWrite = () => undefined;
      cluster.requestDrain("a", "Drain_Required");
    };
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.specOf("a")["unschedulable"]]).toEqual(["Draining", true]);
    expect([cluster.events(), cluster.condition("a", "DrainProgressing")]).toEqual([
      ["Normal DrainStarted a"],
      expect.stringMatching(/^True EvictingPods: 1 pod left: apps\/web/),
    ]);
  });

  it("has a request as long as one of the two annotations does", async () => {
    const cluster = await stuckNode();
    cluster.annotate(nodeType, "a", { [annotations.nodeState]: "Idle" });
    await cluster.settle();
    expect(cluster.answerOf("a")).toBe("Draining");
    cluster.annotate(sriovNetworkNodeStates, "a", { [annotations.desiredState]: "Idle" });
    await cluster.settle();
    expect(cluster.answerOf("a")).toBe("Idle");
  });

  it("is drained for the stronger of two requests that differ", async () => {
    const cluster = await stuckNode();
    cluster.annotate(nodeType, "a", { [annotations.nodeState]: "Reboot_Required" });
    cluster.budgets.clear();
    cluster.advance(1_000);
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster, "a")]).toEqual(["DrainComplete", []]);
  });

  it("can request a drain by the Node's annotation alone, as with upstream's operator", async () => {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    await cluster.settle();
    cluster.annotate(nodeType, "a", { [annotations.nodeState]: "Drain_Required" });
    await cluster.settle();
    expect(cluster.answerOf("a")).toBe("DrainComplete");
  });

  it("becomes schedulable when its state is gone for good, but not when the state was deleted by mistake", async () => {
    const cluster = await stuckNode();
    cluster.api.delete(sriovNetworkNodeStates, { name: "a", namespace: drainNamespace });
    await cluster.settle();
    expect(cluster.specOf("a")["unschedulable"]).toBe(true);
    cluster.api.put({ kind: "Node", metadata: { name: "a", labels: { "node-role.kubernetes.io/worker": null } } });
    await cluster.settle();
    expect(cluster.specOf("a")).toEqual({});
  });

  it("leaves no request behind for a node that joins later under the same name", async () => {
    const cluster = await stuckNode();
    cluster.api.delete(nodeType, { name: "a" });
    await cluster.settle();
    const found = [annotations.desiredState, annotations.currentState].map((annotation) =>
      cluster.annotationOf(sriovNetworkNodeStates, "a", annotation),
    );
    expect([found, cluster.states.get("a")?.drain.conditions]).toEqual([["Idle", "Idle"], []]);
    cluster.budgets.clear();
    cluster.api.put({ kind: "Node", metadata: { name: "a", labels: worker }, spec: {} });
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.specOf("a"), podNames(cluster, "a")]).toEqual(["Idle", {}, ["web", "idle"]]);
  });

  it("is released when it leaves the node set during a drain, because its daemon is gone", async () => {
    const cluster = await stuckNode();
    const label = "node-role.kubernetes.io/worker";
    cluster.api.put({ kind: "Node", metadata: { name: "a", labels: { [label]: null } } });
    cluster.budgets.clear();
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.specOf("a"), podNames(cluster, "a")]).toEqual(["Idle", {}, ["web", "idle"]]);
    expect(cluster.states.get("a")?.drain.conditions).toEqual([]);
    cluster.api.put({ kind: "Node", metadata: { name: "a", labels: { [label]: "" } } });
    await cluster.settle();
    expect(cluster.answerOf("a")).toBe("DrainComplete");
  });

  it("loses the operator's marks when the external drainer that took over has finished", async () => {
    const cluster = await stuckNode();
    cluster.addPods("a", pod("vnf", { kind: "daemon-set", holdsVfs: true }));
    cluster.advance(1_000);
    await cluster.settle();
    const other = { [annotations.useExternalDrainer]: "true", [annotations.currentState]: "DrainComplete" };
    cluster.annotate(sriovNetworkNodeStates, "a", other);
    await cluster.settle();
    expect(cluster.specOf("a")["taints"]).toHaveLength(1);
    cluster.requestDrain("a", "Idle");
    cluster.annotate(sriovNetworkNodeStates, "a", { [annotations.currentState]: "Idle" });
    await cluster.settle();
    expect([cluster.specOf("a"), cluster.annotationOf(nodeType, "a", mark)]).toEqual([{ taints: [] }, undefined]);
  });

  it("is left unchanged when an external drainer takes over during a drain", async () => {
    const cluster = await stuckNode();
    cluster.annotate(sriovNetworkNodeStates, "a", { [annotations.useExternalDrainer]: "true" });
    cluster.budgets.clear();
    cluster.advance(30_000);
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster, "a")]).toEqual(["Draining", ["web", "idle"]]);
    expect([cluster.specOf("a")["unschedulable"], cluster.states.get("a")?.drain.conditions]).toEqual([true, []]);
  });
});

describe("drains on OpenShift", () => {
  const updated = { configuration: { name: "rendered-1" } };

  function openshift(pool: { readonly spec?: object; readonly status?: object } = {}): DrainCluster {
    const cluster = createDrainCluster({ clusterType: "openshift" });
    for (const name of ["a", "b"]) cluster.addNode(name, {}, { [annotations.desiredMachineConfig]: "rendered-1" });
    cluster.addPool("all", { maxUnavailable: 2 });
    const ownerReferences = [{ apiVersion, kind: "MachineConfigPool", name: "worker", uid: "u" }];
    cluster.api.put({ kind: "MachineConfig", metadata: { name: "rendered-1", ownerReferences } });
    const { spec = updated, status = updated } = pool;
    cluster.api.put({ kind: "MachineConfigPool", metadata: { name: "worker" }, spec, status });
    return cluster;
  }

  function poolIn({ api }: DrainCluster) {
    const found = api.list({ group: "", version: "", kind: "MachineConfigPool", plural: "", namespaced: false })[0];
    return { spec: found?.["spec"], state: found?.metadata.annotations?.[annotations.machineConfigPoolState] };
  }

  it("pause the node's MachineConfigPool until no node of the pool has a drain", async () => {
    const cluster = openshift();
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    cluster.requestDrain("b", "Drain_Required");
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.answerOf("b")]).toEqual(["DrainComplete", "DrainComplete"]);
    expect(poolIn(cluster)).toEqual({ spec: { ...updated, paused: true }, state: "Paused" });
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect([cluster.answerOf("a"), poolIn(cluster).state]).toEqual(["Idle", "Paused"]);
    cluster.requestDrain("b", "Idle");
    await cluster.endPauses();
    expect(poolIn(cluster).state).toBe("Paused"); // b is still cordoned
    await cluster.settle();
    expect([cluster.answerOf("b"), poolIn(cluster)]).toEqual([
      "Idle",
      { spec: { ...updated, paused: false }, state: "Idle" },
    ]);
  });

  it("keep the pause for a node of the pool that waits for a slot", async () => {
    const cluster = openshift();
    cluster.addPool("all", { maxUnavailable: 1 });
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    cluster.requestDrain("b", "Drain_Required");
    await cluster.settle();
    cluster.addPool("all", { maxUnavailable: 0 });
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.answerOf("b"), poolIn(cluster).state]).toEqual(["Idle", "Idle", "Paused"]);
    cluster.requestDrain("b", "Idle");
    await cluster.settle();
    expect(poolIn(cluster).state).toBe("Idle");
  });

  it.each([
    { what: "the node", types: [nodeType] },
    { what: "the node with its state", types: [nodeType, sriovNetworkNodeStates] },
  ])("end the pause if $what is deleted during the drain", async ({ types }) => {
    const cluster = openshift();
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    expect(poolIn(cluster).state).toBe("Paused");
    for (const type of types)
      cluster.api.delete(type, { name: "a", ...(type.namespaced && { namespace: drainNamespace }) });
    await cluster.settle();
    expect(poolIn(cluster)).toEqual({ spec: { ...updated, paused: false }, state: "Idle" });
  });

  it("wait while the pool is being updated, and report it", async () => {
    const cluster = openshift({ status: { configuration: { name: "rendered-0" } } });
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    expect(cluster.condition("a", "DrainProgressing")).toBe(
      'True WaitingForMachineConfigPool: waiting for MachineConfigPool "worker" to finish its update',
    );
    expect([cluster.specOf("a"), poolIn(cluster).state]).toEqual([{}, undefined]);
    cluster.api.put({ kind: "MachineConfigPool", metadata: { name: "worker" }, status: updated });
    await cluster.settle();
    expect([cluster.answerOf("a"), poolIn(cluster).state]).toEqual(["DrainComplete", "Paused"]);
  });

  it("end the pause again when an update has begun meanwhile", async () => {
    const cluster = openshift();
    await cluster.settle();
    cluster.api.fault = ({ method, body }) => {
      if (method !== "PATCH" || !JSON.stringify(body).includes('"paused":true')) return;
      cluster.api.put({
        kind: "MachineConfigPool",
        metadata: { name: "worker" },
        spec: { configuration: { name: "rendered-2" } },
      });
    };
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    expect(poolIn(cluster)).toEqual({ spec: { configuration: { name: "rendered-2" }, paused: false }, state: "Idle" });
    expect(cluster.answerOf("a")).toBe("Draining");
  });

  it("never end an administrator's pause", async () => {
    const cluster = openshift({ spec: { ...updated, paused: true } });
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect([cluster.answerOf("a"), poolIn(cluster)]).toEqual(["Idle", { spec: { ...updated, paused: true } }]);
  });

  it("continue if the cluster has no MachineConfigPools", async () => {
    const cluster = createDrainCluster({ clusterType: "openshift" });
    cluster.addNode("plain");
    cluster.addNode("hosted", {}, { [annotations.desiredMachineConfig]: "none" });
    cluster.addPool("all", {});
    await cluster.settle();
    cluster.requestDrain("plain", "Drain_Required");
    cluster.requestDrain("hosted", "Drain_Required");
    await cluster.settle();
    expect([cluster.answerOf("plain"), cluster.answerOf("hosted")]).toEqual(["DrainComplete", "DrainComplete"]);
  });
});

describe("a drained node whose daemon makes no progress", () => {
  /** A cluster in which node a is drained. */
  async function drainedNode() {
    const cluster = createDrainCluster();
    cluster.addNode("a");
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    expect(cluster.answerOf("a")).toBe("DrainComplete");
    return cluster;
  }

  const silent = "node a has been drained since 2026-11-20T12:00:00Z and keeps its slot: its config daemon";

  it("is named as the holder of the slot, is stalled after 5 minutes, and keeps its slot", async () => {
    const cluster = await drainedNode();
    expect(await cluster.reconcile("a")).toEqual({ afterMs: 5 * 60_000 });
    const holds = "nodes in no pool: node a holds the drain slot, DrainComplete since 2026-11-20T12:00:00Z";
    expect(await cluster.defaultPool()).toBe(`DrainDegraded False: ${holds}`);

    cluster.advance(5 * 60_000);
    await cluster.reconcile("a");
    const stalled = `${silent} has reported nothing since then`;
    expect(cluster.condition("a", "DrainDegraded")).toBe(`True DaemonStalled: ${stalled}`);
    expect(cluster.condition("a", "DrainComplete")).toMatch(/^True VfPodsGone/);
    expect(await cluster.defaultPool()).toBe(`DrainDegraded True: nodes in no pool: ${stalled}`);
    expect(cluster.events()).toContain("Warning DaemonStalled a");

    const writes = cluster.api.writes.length;
    cluster.restart();
    await cluster.reconcile("a");
    expect([cluster.answerOf("a"), cluster.api.writes.length]).toEqual(["DrainComplete", writes]);
  });

  it("is no longer stalled once its daemon reports, and no condition is left when the drain has ended", async () => {
    const cluster = await drainedNode();
    cluster.advance(6 * 60_000);
    await cluster.reconcile("a");
    expect(cluster.condition("a", "DrainDegraded")).toMatch(/^True DaemonStalled/);
    const entry = { manager: "switchyard-config-daemon", operation: "Apply", subresource: "status" };
    const managedFields = [{ ...entry, time: "2026-11-20T12:06:00Z" }];
    const place = { name: "a", namespace: drainNamespace };
    cluster.api.put({ kind: "SriovNetworkNodeState", metadata: { ...place, managedFields } });
    await cluster.reconcile("a");
    expect(cluster.condition("a", "DrainDegraded")).toMatch(/^False VfPodsGone/);
    expect(await cluster.defaultPool()).toMatch(/^DrainDegraded False: /);

    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect(cluster.states.get("a")?.drain.conditions).toEqual([]);
    expect(await cluster.defaultPool()).toBe("");
    const writes = cluster.api.writes.length;
    await cluster.defaultPool();
    expect(cluster.api.writes.length).toBe(writes);
  });

  it("is reported by its pool and not by the SriovOperatorConfig if it is in a pool", async () => {
    const cluster = createDrainCluster();
    cluster.addPool("racks", { nodeSelector: { matchLabels: { rack: "1" } } });
    cluster.addNode("a", { rack: "1" });
    await cluster.settle();
    cluster.requestDrain("a", "Drain_Required");
    await cluster.settle();
    expect([cluster.answerOf("a"), await cluster.defaultPool()]).toEqual(["DrainComplete", ""]);
  });
});
