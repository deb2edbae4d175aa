// SPDX-License-Identifier: Apache-2.0
/** Drains of single VFs: which pods leave, and when such a drain becomes one of the node. */
import { describe, expect, it } from "@jest/globals";
import { annotations, draDriverName, sriovNetworkNodeStates } from "@switchyard/api";
import { createDrainCluster, pod, type DrainCluster } from "./testing/drain-cluster.ts";

const both = "0000:3b:00.0,0000:3b:00.1#0-1";

/** A node with a pod for each of three VFs of the PFs 0000:3b:00.0 (0 to 3) and 0000:3b:00.1 (4 to 7), and a pod without VFs. */
async function nodeWithPods({ pools = {} }: { readonly pools?: object } = {}): Promise<DrainCluster> {
  const cluster = createDrainCluster();
  cluster.addNode("a");
  cluster.addPool("all", { nodeSelector: {}, ...pools });
  const holding = ["x0", "x1", "x2", "y0", "y1", "y2"].map((name) => pod(name, { holdsVfs: true }));
  cluster.addPods("a", ...holding, pod("plain"));
  await cluster.settle();
  return cluster;
}

const holders = { 0: "x0", 1: "x1", 2: "x2", 4: "y0", 5: "y1", 6: "y2" };

function podNames(cluster: DrainCluster): string {
  return (cluster.podsOn.get("a") ?? []).map(({ name }) => name).join(" ");
}

/** The drain is over when the daemon sees that the VFs are free. */
async function settleAndFree(cluster: DrainCluster, left: Readonly<Record<number, string>>): Promise<void> {
  await cluster.settle();
  cluster.reportHolders("a", left);
  await cluster.settle();
}

describe("a drain of the VFs of one PF", () => {
  it("evicts the pods that have them, and no others, and never cordons the node", async () => {
    const cluster = await nodeWithPods();
    cluster.requestDeviceDrain("a", holders);
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster), cluster.specOf("a")]).toEqual(["Draining", "y0 y1 y2 plain", {}]);
    cluster.advance(1_000);
    await cluster.settle();
    expect(cluster.condition("a", "DrainProgressing")).toBe(
      "True EvictingPods: apps/x0, apps/x1, apps/x2 are deleted, but their containers still have VFs of 0000:3b:00.0",
    );
    await settleAndFree(cluster, { 4: "y0", 5: "y1", 6: "y2" });
    expect([cluster.answerOf("a"), podNames(cluster), cluster.specOf("a")]).toEqual([
      "DrainComplete",
      "y0 y1 y2 plain",
      {},
    ]);
    expect(cluster.condition("a", "DrainComplete")).toBe(
      "True VfPodsGone: all evictable pods with VFs of 0000:3b:00.0 are gone, and the node stays schedulable",
    );
    cluster.annotate(sriovNetworkNodeStates, "a", { [annotations.drainVfs]: "" });
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster), cluster.specOf("a")]).toEqual(["Idle", "y0 y1 y2 plain", {}]);
  });

  it("stays one on a node whose VFs Switchyard's driver publishes, because it gives no pod a VF that changes", async () => {
    const cluster = await nodeWithPods();
    const devices = [{ name: "0000-3b-02-1", attributes: { pciAddress: { string: "0000:3b:02.1" } } }];
    cluster.slices.push({
      kind: "ResourceSlice",
      metadata: { name: "s" },
      spec: { driver: draDriverName, nodeName: "a", pool: { name: "a" }, devices },
    });
    cluster.requestDeviceDrain("a", holders);
    cluster.reportHolders("a", holders, { publishedVfs: 8 });
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster), cluster.specOf("a")]).toEqual(["Draining", "y0 y1 y2 plain", {}]);
  });

  it("is about all PFs and VFs that it names", async () => {
    const cluster = await nodeWithPods();
    cluster.requestDeviceDrain("a", holders, both);
    await cluster.settle();
    expect(podNames(cluster)).toBe("y2 plain");
  });

  it("respects PodDisruptionBudgets, and is complete without pods", async () => {
    const cluster = await nodeWithPods();
    cluster.budgets.set("x1", "The disruption budget x needs 3 healthy pods and has 3 currently");
    cluster.requestDeviceDrain("a", holders);
    await settleAndFree(cluster, { 1: "x1", 4: "y0" });
    cluster.advance(1_000);
    await cluster.settle();
    expect(podNames(cluster)).toBe("x1 y0 y1 y2 plain");
    expect(cluster.condition("a", "DrainProgressing")).toBe(
      "True EvictingPods: 1 pod with VFs of 0000:3b:00.0 left: apps/x1 cannot be evicted now: " +
        "The disruption budget x needs 3 healthy pods and has 3 currently",
    );
    cluster.budgets.clear();
    cluster.advance(2_000);
    await settleAndFree(cluster, { 4: "y0" });
    expect([cluster.answerOf("a"), podNames(cluster), cluster.specOf("a")]).toEqual([
      "DrainComplete",
      "y0 y1 y2 plain",
      {},
    ]);
  });

  it("names static pods, which cannot be evicted, and evicts pods of DaemonSets, which do not get these VFs again", async () => {
    const cluster = await nodeWithPods();
    cluster.podsOn.set("a", [pod("x0", { kind: "mirror" }), pod("x1", { kind: "daemon-set", toleratesDrain: true })]);
    cluster.requestDeviceDrain("a", { 0: "x0", 1: "x1" });
    await settleAndFree(cluster, { 0: "x0" });
    expect([cluster.answerOf("a"), podNames(cluster), cluster.specOf("a")]).toEqual(["DrainComplete", "x0", {}]);
    expect(cluster.condition("a", "DrainComplete")).toMatch(
      /these pods stay on the node and may lose their VFs: apps\/x0$/,
    );
  });

  it("does not wait for pods that have ended", async () => {
    const cluster = await nodeWithPods();
    cluster.podsOn.set("a", [pod("x0", { isFinished: true })]);
    cluster.requestDeviceDrain("a", { 0: "x0" });
    await cluster.settle();
    expect(cluster.answerOf("a")).toBe("DrainComplete");
  });

  it("does not evict a new pod with the name of one that had a VF, such as that of a StatefulSet", async () => {
    const cluster = await nodeWithPods();
    cluster.requestDeviceDrain("a", { 0: "x0" });
    await cluster.settle();
    cluster.addPods("a", pod("x0", { uid: "new", holdsVfs: true }));
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster)]).toEqual(["Draining", "x1 x2 y0 y1 y2 plain x0"]);
    cluster.reportHolders("a", { 4: "x0" }, { since: "2026-11-20T12:01:00Z" });
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster)]).toEqual(["DrainComplete", "x1 x2 y0 y1 y2 plain x0"]);
  });

  it("evicts the pod with the uid that the daemon reports, and no other of its name", async () => {
    const cluster = await nodeWithPods();
    cluster.podsOn.set("a", [pod("x0", { uid: "next", holdsVfs: true }), pod("plain")]);
    cluster.requestDeviceDrain("a", { 0: "x0" }, undefined, { uids: { 0: "past" } });
    await cluster.settle();
    cluster.advance(1_000);
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster)]).toEqual(["Draining", "x0 plain"]);
    expect(cluster.condition("a", "DrainProgressing")).toMatch(
      /apps\/x0 is deleted, but its containers still have VFs/,
    );
    cluster.reportHolders("a", { 0: "x0" }, { uids: { 0: "next" } });
    await settleAndFree(cluster, {});
    expect([cluster.answerOf("a"), podNames(cluster)]).toEqual(["DrainComplete", "plain"]);
  });

  it("knows a static pod by the uid that the kubelet has for it", async () => {
    const cluster = await nodeWithPods();
    cluster.podsOn.set("a", [pod("x0", { kind: "mirror", staticUid: "hash" })]);
    cluster.requestDeviceDrain("a", { 0: "x0" }, undefined, { uids: { 0: "hash" } });
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.condition("a", "DrainComplete")]).toEqual([
      "DrainComplete",
      expect.stringMatching(/may lose their VFs: apps\/x0$/),
    ]);
  });

  it("is not complete for VFs that the daemon adds to its request at the same moment", async () => {
    const cluster = await nodeWithPods();
    cluster.requestDeviceDrain("a", { 4: "y0" });
    cluster.beforeWrite = ({ body }) => {
      if (!JSON.stringify(body).includes("DrainComplete") || !Array.isArray(body)) return;
      cluster.beforeWrite = () => undefined;
      cluster.annotate(sriovNetworkNodeStates, "a", { [annotations.drainVfs]: both });
    };
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster)]).toEqual(["Draining", "x0 x1 x2 y1 y2 plain"]);
  });

  it("is continued by another leader", async () => {
    const cluster = await nodeWithPods();
    cluster.budgets.set("x1", "no");
    cluster.requestDeviceDrain("a", holders);
    await cluster.settle();
    cluster.restart();
    cluster.budgets.clear();
    await settleAndFree(cluster, {});
    await settleAndFree(cluster, {});
    expect([cluster.answerOf("a"), podNames(cluster), cluster.specOf("a")]).toEqual([
      "DrainComplete",
      "y0 y1 y2 plain",
      {},
    ]);
  });
});

describe("a request for single VFs becomes a drain of the node", () => {
  async function expectNodeDrain(cluster: DrainCluster): Promise<void> {
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster)]).toEqual(["DrainComplete", "plain"]);
    expect(cluster.specOf("a")).toMatchObject({ unschedulable: true });
  }

  it("if a pool of the node asks for it", async () => {
    const cluster = await nodeWithPods({ pools: { drainMode: "node" } });
    cluster.requestDeviceDrain("a", holders);
    await expectNodeDrain(cluster);
  });

  it("if a pod has AF_XDP devices", async () => {
    const cluster = await nodeWithPods();
    cluster.addPods("a", pod("xdp", { holdsVfs: true, hasAfxdpDevices: true }));
    cluster.requestDeviceDrain("a", holders);
    await expectNodeDrain(cluster);
  });

  it("if a driver publishes VFs of the PF, which it may give to pods meanwhile", async () => {
    const cluster = await nodeWithPods();
    const devices = [{ name: "vf", attributes: { pciAddress: { string: "0000:3b:02.1" } } }];
    cluster.slices.push({
      kind: "ResourceSlice",
      metadata: { name: "s" },
      spec: { driver: "sriov", nodeName: "a", pool: { name: "a" }, devices },
    });
    cluster.requestDeviceDrain("a", {}, "0000:3b:00.1");
    await cluster.settle();
    expect([cluster.answerOf("a"), cluster.specOf("a")]).toEqual(["DrainComplete", {}]); // of another PF
    cluster.requestDrain("a", "Idle");
    await cluster.settle();
    cluster.requestDeviceDrain("a", holders);
    await expectNodeDrain(cluster);
  });

  it("if the annotation is not readable", async () => {
    const cluster = await nodeWithPods();
    cluster.requestDeviceDrain("a", holders, "everything");
    await expectNodeDrain(cluster);
  });

  it("if the holders become unknown and stay so for 90 s, not before", async () => {
    const cluster = await nodeWithPods();
    cluster.budgets.set("x1", "no");
    cluster.requestDeviceDrain("a", holders);
    await cluster.settle();
    cluster.reportHolders("a", holders, { isKnown: false });
    cluster.budgets.clear();
    for (const ms of [2_000, 1_000]) {
      cluster.advance(ms);
      await cluster.settle();
    }
    expect(podNames(cluster)).toBe("y0 y1 y2 plain");
    expect([cluster.answerOf("a"), cluster.specOf("a")]).toEqual(["Draining", {}]);
    expect(cluster.condition("a", "DrainProgressing")).toBe(
      "True EvictingPods: waiting until it is known which pods have VFs of 0000:3b:00.0: the kubelet does not answer",
    );
    cluster.advance(90_000);
    await expectNodeDrain(cluster);
    cluster.reportHolders("a", {}); // the node stays cordoned until it is released
    await expectNodeDrain(cluster);
  });

  it("if a reboot is requested instead", async () => {
    const cluster = await nodeWithPods();
    cluster.addNode("other");
    cluster.requestDeviceDrain("a", holders);
    await cluster.settle();
    cluster.requestDrain("a", "Reboot_Required");
    await cluster.settle();
    expect([cluster.answerOf("a"), podNames(cluster)]).toEqual(["DrainComplete", ""]);
    expect(cluster.specOf("a")).toMatchObject({ unschedulable: true });
  });

  it("if an older daemon makes it, or a script that annotates the Node", async () => {
    const cluster = await nodeWithPods();
    cluster.reportHolders("a", holders);
    cluster.requestDrain("a", "Drain_Required");
    await expectNodeDrain(cluster);
  });
});
