// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import {
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  annotations,
  nodes as nodeType,
  sriovNetworkNodeStates,
} from "@switchyard/api";
import { createDrainCluster, drainNamespace, pod, type DrainCluster } from "./testing/drain-cluster.ts";

const namespace = drainNamespace;

/** Two nodes with AF_XDP only, in a cluster without a SriovOperatorConfig. */
async function afxdpCluster(): Promise<DrainCluster> {
  const cluster = createDrainCluster();
  cluster.useAfxdpOnly();
  for (const name of ["a", "b"]) cluster.addAfxdpNode(name);
  await cluster.settle();
  return cluster;
}

const request = (cluster: DrainCluster, name: string, value: "Drain_Required" | "Idle") => {
  cluster.requestDrain(name, value, afxdpNetworkNodeStates);
};

describe("a node without a SriovNetworkNodeState", () => {
  it("gets no annotation while it needs no drain", async () => {
    const cluster = await afxdpCluster();
    expect(cluster.api.writes).toEqual([]);
  });

  it("is drained by its AfxdpNetworkNodeState, one node after the other, with conditions and events", async () => {
    const cluster = await afxdpCluster();
    cluster.addPods("a", pod("user", { holdsVfs: true }), pod("idle"));
    for (const name of ["a", "b"]) request(cluster, name, "Drain_Required");
    await cluster.settle();
    const answers = () => ["a", "b"].map((name) => cluster.answerOf(name, afxdpNetworkNodeStates));
    expect(answers()).toEqual(["DrainComplete", "Idle"]);
    expect(cluster.podsOn.get("a")?.map(({ name }) => name)).toEqual(["idle"]);
    expect(cluster.condition("a", "DrainComplete")).toMatch(/^True VfPodsGone: /);
    expect(cluster.condition("b", "DrainProgressing")).toMatch(/^False WaitingForSlot: .* 1 of 1 draining \(a\)/);
    expect(cluster.events()).toEqual(["Normal DrainStarted a", "Normal DrainCompleted a"]);
    expect(new Set(cluster.news.map(({ regarding }) => regarding.kind))).toEqual(
      new Set(["AfxdpNetworkNodeState", "Node"]),
    );

    request(cluster, "a", "Idle");
    await cluster.settle();
    expect(answers()).toEqual(["Idle", "DrainComplete"]);
    expect([cluster.specOf("a"), cluster.condition("a", "DrainComplete")]).toEqual([{}, ""]);
    request(cluster, "b", "Idle");
    await cluster.settle();
    expect([cluster.slotHolders(), cluster.specOf("b")]).toEqual([[], {}]);
  });

  it("is drained as its pool allows", async () => {
    const cluster = createDrainCluster();
    cluster.useAfxdpOnly();
    cluster.addPool("racks", { nodeSelector: { matchLabels: { rack: "1" } }, maxUnavailable: 2 });
    for (const name of ["a", "b", "c"]) cluster.addAfxdpNode(name, { rack: "1" });
    await cluster.settle();
    for (const name of ["a", "b", "c"]) request(cluster, name, "Drain_Required");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["a", "b"]);
  });

  it("keeps its slot if the operator is replaced, even if caches lag behind", async () => {
    const cluster = await afxdpCluster();
    request(cluster, "a", "Drain_Required");
    await cluster.settle();
    cluster.api.caching = false;
    request(cluster, "b", "Drain_Required");
    cluster.restart();
    await cluster.settle();
    cluster.api.caching = true;
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["a"]);
  });

  it("waits while there is no config", async () => {
    const cluster = await afxdpCluster();
    cluster.api.delete(afxdpOperatorConfigs, { name: "default", namespace });
    request(cluster, "a", "Drain_Required");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual([]);
  });
});

describe("a node that gets a SriovNetworkNodeState during a drain", () => {
  it("is drained by this state, and holds one slot", async () => {
    const cluster = await afxdpCluster();
    cluster.addPods("a", pod("user", { holdsVfs: true }));
    cluster.budgets.set("user", "no");
    request(cluster, "a", "Drain_Required");
    await cluster.settle();
    expect(cluster.answerOf("a", afxdpNetworkNodeStates)).toBe("Draining");

    cluster.addState("a");
    await cluster.settle();
    expect(cluster.answerOf("a")).toBe("Draining"); // the request on the Node holds
    expect(cluster.specOf("a")).toMatchObject({ unschedulable: true });
    cluster.requestDrain("a", "Drain_Required");
    cluster.annotate(afxdpNetworkNodeStates, "a", { [annotations.desiredState]: "Idle" });
    cluster.budgets.clear();
    cluster.advance(1_000);
    await cluster.settle();
    expect(cluster.answerOf("a")).toBe("DrainComplete");

    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.specOf("a")]).toEqual(["Idle", {}]);
    // Without the state for SR-IOV, the slot that the other state seems to hold is released.
    cluster.api.delete(sriovNetworkNodeStates, { name: "a", namespace });
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual([]);
    expect(cluster.annotationOf(nodeType, "a", annotations.cordonedBy)).toBeUndefined();
  });
});
