// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, sriovNetworkNodeStates, sriovNetworkPoolConfigs } from "@switchyard/api";
import { KubeError } from "@switchyard/kube";
import { createDrainCluster, drainNamespace, pod, type DrainCluster } from "../testing/drain-cluster.ts";

const limited = { nodeSelector: { matchLabels: { pool: "limited" } } };

/** Nodes of one pool without drain requests. */
async function fleet(count: number, maxUnavailable: number | string): Promise<DrainCluster> {
  const cluster = createDrainCluster();
  cluster.addPool("limited", { ...limited, maxUnavailable });
  for (let index = 0; index < count; index++) cluster.addNode(`n${index}`, { pool: "limited" });
  await cluster.settle();
  return cluster;
}

/** Settles with as many operators as necessary, and with caches that catch up in the end. */
async function settleWithMortals(cluster: DrainCluster): Promise<void> {
  for (;;) {
    try {
      await cluster.settle();
      if (cluster.api.caching) return;
      cluster.api.caching = true;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      cluster.restart();
    }
  }
}

class Killed extends Error {}

/** Acts as the daemons until each node has been drained once. */
async function drainAll(cluster: DrainCluster, names: readonly string[]): Promise<readonly string[]> {
  const order: string[] = [];
  while (order.length < names.length) {
    await settleWithMortals(cluster);
    const next = names.filter((name) => cluster.answerOf(name) === "DrainComplete");
    expect(next.length).toBeGreaterThan(0);
    order.push(...next);
    for (const name of next) cluster.requestDrain(name, "Idle");
  }
  await settleWithMortals(cluster);
  return order;
}

describe("drain slots", () => {
  it("are assigned in the order of requests, also by the next leader", async () => {
    const cluster = await fleet(4, 1);
    cluster.addPods("n3", pod("web", { holdsVfs: true }));
    cluster.budgets.set("web", "no");
    for (const name of ["n3", "n2", "n1", "n0"]) {
      cluster.requestDrain(name, "Drain_Required");
      await cluster.settle();
      cluster.advance(1_000);
    }
    expect(cluster.condition("n0", "DrainProgressing")).toBe(
      'False WaitingForSlot: waiting for a free slot in pool "limited": 1 of 1 draining (n3), 2 nodes ahead',
    );
    cluster.restart();
    cluster.budgets.clear();
    cluster.advance(60_000);
    const order: string[] = [];
    for (let round = 0; round < 4; round++) {
      await cluster.settle();
      const [name = ""] = cluster.slotHolders();
      order.push(name);
      cluster.requestDrain(name, "Idle");
    }
    expect(order).toEqual(["n3", "n2", "n1", "n0"]);
  });

  it("are assigned last to a node that withdrew its request and requests again", async () => {
    const cluster = await fleet(3, 1);
    cluster.requestDrain("n0", "Drain_Required");
    await cluster.settle();
    for (const name of ["n1", "n2"]) {
      cluster.requestDrain(name, "Drain_Required");
      await cluster.settle();
      cluster.advance(1_000);
    }
    cluster.requestDrain("n1", "Idle");
    await cluster.settle();
    cluster.requestDrain("n1", "Drain_Required");
    await cluster.settle();
    cluster.requestDrain("n0", "Idle");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n2"]);
  });

  it("are not assigned to a node whose request is withdrawn while it waits", async () => {
    const cluster = await fleet(2, 1);
    cluster.requestDrain("n0", "Drain_Required");
    await cluster.settle();
    cluster.requestDrain("n1", "Drain_Required");
    await cluster.settle();
    cluster.requestDrain("n1", "Idle");
    cluster.requestDrain("n0", "Idle");
    await cluster.settle();
    expect([cluster.slotHolders(), cluster.states.get("n1")?.drain.conditions]).toEqual([[], []]);
  });

  it("are assigned to all nodes at once if there is no limit", async () => {
    const cluster = createDrainCluster();
    cluster.addPool("free", {});
    for (const name of ["a", "b", "c"]) cluster.addNode(name);
    await cluster.settle();
    for (const name of ["a", "b", "c"]) cluster.requestDrain(name, "Drain_Required");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["a", "b", "c"]);
  });

  it("are assigned one at a time to nodes in no pool", async () => {
    const cluster = createDrainCluster();
    for (const name of ["a", "b"]) cluster.addNode(name);
    await cluster.settle();
    for (const name of ["a", "b"]) cluster.requestDrain(name, "Drain_Required");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["a"]);
    expect(cluster.condition("b", "DrainProgressing")).toContain("in the default pool: 1 of 1 draining (a)");
  });

  it("are a percentage of the pool's nodes, at least one (sriov-operator.md M-12)", async () => {
    const cluster = await fleet(3, "10%");
    for (const name of ["n0", "n1", "n2"]) cluster.requestDrain(name, "Drain_Required");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n0"]);
  });

  it.each([
    { maxUnavailable: 0, says: "its maxUnavailable is 0" },
    { maxUnavailable: "0%", says: 'its maxUnavailable "0%" is not a valid number or percentage of nodes' },
  ])(
    "are held by maxUnavailable $maxUnavailable, and the node reports it (sriov-operator.md M-33)",
    async ({ maxUnavailable, says }) => {
      const cluster = await fleet(1, maxUnavailable);
      cluster.requestDrain("n0", "Drain_Required");
      await cluster.settle();
      const held = `False HeldByPool: pool "limited" allows no drains: ${says}`;
      expect(cluster.condition("n0", "DrainProgressing")).toBe(held);
      cluster.addPool("limited", { ...limited, maxUnavailable: 1 });
      await cluster.settle();
      expect(cluster.slotHolders()).toEqual(["n0"]);
    },
  );

  it("are those of the default pool for nodes whose pool is deleted during the drain", async () => {
    const cluster = await fleet(4, 2);
    const names = ["n0", "n1", "n2", "n3"];
    for (const name of names) cluster.requestDrain(name, "Drain_Required");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n0", "n1"]);
    cluster.api.delete(sriovNetworkPoolConfigs, { name: "limited", namespace: drainNamespace });
    cluster.advance(1_000);
    await cluster.settle();
    const says = "waiting for a free slot in the default pool: 2 of 1 draining (n0, n1), next in line";
    expect(cluster.condition("n2", "DrainProgressing")).toBe(`False WaitingForSlot: ${says}`);
    cluster.requestDrain("n0", "Idle");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n1"]);
    cluster.requestDrain("n1", "Idle");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n2"]);
  });

  it("are assigned only if each pool of the node has a free one (sriov-operator.md M-44)", async () => {
    const cluster = await fleet(3, 2);
    cluster.addPool("strict", { nodeSelector: { matchLabels: { strict: "yes" } }, maxUnavailable: 1 });
    for (const name of ["n0", "n1"]) cluster.api.put({ kind: "Node", metadata: { name, labels: { strict: "yes" } } });
    for (const name of ["n0", "n1", "n2"]) cluster.requestDrain(name, "Drain_Required");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n0"]); // n1 reserves the other slot of "limited", so n2 cannot overtake it
    expect(cluster.condition("n1", "DrainProgressing")).toContain('in pool "strict": 1 of 1 draining (n0)');
    cluster.requestDrain("n0", "Idle");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n1", "n2"]);
  });

  it("are held by drains only, not by nodes that an administrator has cordoned", async () => {
    const cluster = await fleet(2, 1);
    cluster.cordon("n0");
    cluster.requestDrain("n1", "Drain_Required");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n1"]);
  });

  it("stay with a cordoned node whose state is deleted by hand during the drain", async () => {
    const cluster = await fleet(2, 1);
    cluster.addPods("n1", pod("web", { holdsVfs: true }));
    cluster.budgets.set("web", "no");
    cluster.requestDrain("n1", "Drain_Required");
    await cluster.settle();
    cluster.requestDrain("n0", "Drain_Required");
    await cluster.settle();
    cluster.api.delete(sriovNetworkNodeStates, { name: "n1", namespace: drainNamespace });
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual([]);
    cluster.addState("n1"); // as the node-state controller does at once
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n1"]);
    cluster.budgets.clear();
    cluster.advance(30_000);
    await cluster.settle();
    cluster.requestDrain("n1", "Idle");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n0"]);
  });

  it("are assigned, and positions published, although the state of one node cannot be written", async () => {
    const cluster = await fleet(3, 1);
    cluster.addNode("broken", { pool: "other" });
    await cluster.settle();
    for (const name of ["broken", "n0", "n1"]) cluster.requestDrain(name, "Drain_Required");
    cluster.beforeWrite = ({ path, body }) => {
      const isAdmission = path.endsWith("/broken") && JSON.stringify(body).includes("Draining");
      const causes = [{ field: "spec.interfaces[0].mtu", reason: "FieldValueInvalid" }];
      if (isAdmission) throw new KubeError(path, "Invalid", { details: { causes }, status: 422 });
    };
    await expect(cluster.assignSlots()).rejects.toThrow("Invalid");
    await cluster.reconcile("n1");
    expect([cluster.slotHolders(), cluster.condition("n1", "DrainProgressing")]).toEqual([
      ["n0"],
      'False WaitingForSlot: waiting for a free slot in pool "limited": 1 of 1 draining (n0), next in line',
    ]);
  });

  it("become free when a node is deleted during its drain", async () => {
    const cluster = await fleet(2, 1);
    for (const name of ["n0", "n1"]) cluster.requestDrain(name, "Drain_Required");
    await cluster.settle();
    cluster.api.delete({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false }, { name: "n0" });
    await cluster.settle();
    expect(cluster.answerOf("n1")).toBe("DrainComplete");
  });

  it("are held by nodes that an external drainer drains", async () => {
    const cluster = await fleet(2, 1);
    cluster.annotate(sriovNetworkNodeStates, "n0", {
      [annotations.useExternalDrainer]: "true",
      [annotations.currentState]: "Draining",
    });
    cluster.requestDrain("n1", "Drain_Required");
    await cluster.settle();
    expect(cluster.answerOf("n1")).toBe("Idle");
  });

  it("are not assigned to nodes that an external drainer drains", async () => {
    const cluster = await fleet(2, 1);
    cluster.annotate(sriovNetworkNodeStates, "n0", { [annotations.useExternalDrainer]: "true" });
    cluster.requestDrain("n0", "Drain_Required");
    await cluster.settle();
    expect([cluster.answerOf("n0"), cluster.specOf("n0"), cluster.states.get("n0")?.drain.conditions]).toEqual([
      "Idle",
      {},
      [],
    ]);
    cluster.requestDrain("n1", "Drain_Required");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n1"]);
  });
});

describe("the limit", () => {
  it("holds if the cache does not show the last admission yet", async () => {
    const cluster = await fleet(3, 1);
    for (const name of ["n0", "n1", "n2"]) cluster.requestDrain(name, "Drain_Required");
    cluster.api.caching = false;
    for (let time = 0; time < 3; time++) {
      await cluster.assignSlots();
      cluster.restart(); // a new leader
    }
    expect(cluster.slotHolders()).toEqual(["n0"]);
  });

  it("holds if another leader admitted a node whose request the cache does not show yet", async () => {
    const cluster = await fleet(2, 1);
    cluster.requestDrain("n1", "Drain_Required");
    cluster.api.caching = false;
    cluster.requestDrain("n0", "Drain_Required");
    cluster.annotate(sriovNetworkNodeStates, "n0", { [annotations.currentState]: "Draining" });
    await cluster.assignSlots();
    expect(cluster.slotHolders()).toEqual(["n0"]);
  });

  it("holds if a write that failed for the client still arrives", async () => {
    const cluster = await fleet(2, 1);
    const late: (() => Promise<unknown>)[] = [];
    for (const name of ["n0", "n1"]) cluster.requestDrain(name, "Drain_Required");
    cluster.beforeWrite = (request) => {
      cluster.beforeWrite = () => undefined;
      late.push(() => cluster.send(request));
      throw new Error("connection lost");
    };
    await expect(cluster.assignSlots()).rejects.toThrow("connection lost");
    cluster.requestDrain("n0", "Idle");
    await cluster.settle();
    expect(cluster.slotHolders()).toEqual(["n1"]);
    await Promise.allSettled(late.map((send) => send()));
    expect(cluster.slotHolders()).toEqual(["n1"]);
  });

  it.each([
    { when: "before", isDone: false },
    { when: "after", isDone: true },
  ])(
    "holds, and all nodes are drained, if operators die $when each write and caches lag behind",
    async ({ isDone }) => {
      const names = ["n0", "n1", "n2", "n3", "n4"];
      let nth = 0;
      for (let hasDied = true; hasDied;) {
        nth++;
        hasDied = false;
        const cluster = await fleet(names.length, 2);
        for (const name of names) cluster.addPods(name, pod(`on-${name}`, { holdsVfs: true }));
        let writes = 0;
        const live = () => {
          expect(cluster.slotHolders().length).toBeLessThanOrEqual(2);
          writes++;
          if (writes % 3 === 0) cluster.api.caching = !cluster.api.caching;
          if (writes !== nth) return;
          hasDied = true;
          cluster.api.caching = false; // the caches of the next operator lag behind
          throw new Killed();
        };
        if (isDone) cluster.afterWrite = live;
        else cluster.beforeWrite = live;
        for (const name of names) cluster.requestDrain(name, "Drain_Required");
        const order = await drainAll(cluster, names);
        expect([nth, [...order].sort()]).toEqual([nth, names]);
        expect([nth, names.map((name) => cluster.specOf(name))]).toEqual([nth, names.map(() => ({}))]);
      }
      expect(nth).toBeGreaterThan(10);
    },
  );
});
