// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, sriovNetworkNodeStates, sriovNetworkPoolConfigs } from "@switchyard/api";
import { KubeError } from "@switchyard/kube";
import { createDrainWorld, drainNamespace, pod, type DrainWorld } from "../testing/drain-world.ts";

const limited = { nodeSelector: { matchLabels: { pool: "limited" } } };

/** Nodes of a pool, settled; nobody asks for anything. */
async function fleet(count: number, maxUnavailable: number | string): Promise<DrainWorld> {
  const world = createDrainWorld();
  world.addPool("limited", { ...limited, maxUnavailable });
  for (let index = 0; index < count; index++) world.addNode(`n${index}`, { pool: "limited" });
  await world.settle();
  return world;
}

/** Settles with as many operators as it takes, and caches that hear of all in the end. */
async function settleWithMortals(world: DrainWorld): Promise<void> {
  for (;;) {
    try {
      await world.settle();
      if (world.api.caching) return;
      world.api.caching = true;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      world.restart();
    }
  }
}

class Killed extends Error {}

/** Plays the daemons until all have been drained once. */
async function drainAll(world: DrainWorld, names: readonly string[]): Promise<readonly string[]> {
  const order: string[] = [];
  while (order.length < names.length) {
    await settleWithMortals(world);
    const next = names.filter((name) => world.answerOf(name) === "DrainComplete");
    expect(next.length).toBeGreaterThan(0);
    order.push(...next);
    for (const name of next) world.ask(name, "Idle");
  }
  await settleWithMortals(world);
  return order;
}

describe("drain slots", () => {
  it("are assigned in the order of requests, also by the next leader", async () => {
    const world = await fleet(4, 1);
    world.addPods("n3", pod("web", { holdsVfs: true }));
    world.budgets.set("web", "no");
    for (const name of ["n3", "n2", "n1", "n0"]) {
      world.ask(name, "Drain_Required");
      await world.settle();
      world.advance(1_000);
    }
    expect(world.condition("n0", "DrainProgressing")).toBe(
      'False WaitingForSlot: waiting for a free slot in pool "limited": 1 of 1 draining (n3), 2 nodes ahead',
    );
    world.restart();
    world.budgets.clear();
    world.advance(60_000);
    const order: string[] = [];
    for (let round = 0; round < 4; round++) {
      await world.settle();
      const [name = ""] = world.taking();
      order.push(name);
      world.ask(name, "Idle");
    }
    expect(order).toEqual(["n3", "n2", "n1", "n0"]);
  });

  it("are assigned last to a node that withdrew its request and requests again", async () => {
    const world = await fleet(3, 1);
    world.ask("n0", "Drain_Required");
    await world.settle();
    for (const name of ["n1", "n2"]) {
      world.ask(name, "Drain_Required");
      await world.settle();
      world.advance(1_000);
    }
    world.ask("n1", "Idle");
    await world.settle();
    world.ask("n1", "Drain_Required");
    await world.settle();
    world.ask("n0", "Idle");
    await world.settle();
    expect(world.taking()).toEqual(["n2"]);
  });

  it("are not assigned to a node whose request is withdrawn while it waits", async () => {
    const world = await fleet(2, 1);
    world.ask("n0", "Drain_Required");
    await world.settle();
    world.ask("n1", "Drain_Required");
    await world.settle();
    world.ask("n1", "Idle");
    world.ask("n0", "Idle");
    await world.settle();
    expect([world.taking(), world.states.get("n1")?.drain.conditions]).toEqual([[], []]);
  });

  it("are assigned to all nodes at once if there is no limit", async () => {
    const world = createDrainWorld();
    world.addPool("free", {});
    for (const name of ["a", "b", "c"]) world.addNode(name);
    await world.settle();
    for (const name of ["a", "b", "c"]) world.ask(name, "Drain_Required");
    await world.settle();
    expect(world.taking()).toEqual(["a", "b", "c"]);
  });

  it("are assigned one at a time to nodes in no pool", async () => {
    const world = createDrainWorld();
    for (const name of ["a", "b"]) world.addNode(name);
    await world.settle();
    for (const name of ["a", "b"]) world.ask(name, "Drain_Required");
    await world.settle();
    expect(world.taking()).toEqual(["a"]);
    expect(world.condition("b", "DrainProgressing")).toContain("in the default pool: 1 of 1 draining (a)");
  });

  it("are a percentage of the pool's nodes, at least one (sriov-operator.md M-12)", async () => {
    const world = await fleet(3, "10%");
    for (const name of ["n0", "n1", "n2"]) world.ask(name, "Drain_Required");
    await world.settle();
    expect(world.taking()).toEqual(["n0"]);
  });

  it.each([
    { maxUnavailable: 0, says: "its maxUnavailable is 0" },
    { maxUnavailable: "0%", says: 'its maxUnavailable "0%" is not a valid number or percentage of nodes' },
  ])(
    "are held by maxUnavailable $maxUnavailable, and the node reports it (sriov-operator.md M-33)",
    async ({ maxUnavailable, says }) => {
      const world = await fleet(1, maxUnavailable);
      world.ask("n0", "Drain_Required");
      await world.settle();
      const held = `False HeldByPool: pool "limited" allows no drains: ${says}`;
      expect(world.condition("n0", "DrainProgressing")).toBe(held);
      world.addPool("limited", { ...limited, maxUnavailable: 1 });
      await world.settle();
      expect(world.taking()).toEqual(["n0"]);
    },
  );

  it("are those of the default pool for nodes whose pool is deleted during the drain", async () => {
    const world = await fleet(4, 2);
    const names = ["n0", "n1", "n2", "n3"];
    for (const name of names) world.ask(name, "Drain_Required");
    await world.settle();
    expect(world.taking()).toEqual(["n0", "n1"]);
    world.api.delete(sriovNetworkPoolConfigs, { name: "limited", namespace: drainNamespace });
    world.advance(1_000);
    await world.settle();
    const says = "waiting for a free slot in the default pool: 2 of 1 draining (n0, n1), next in line";
    expect(world.condition("n2", "DrainProgressing")).toBe(`False WaitingForSlot: ${says}`);
    world.ask("n0", "Idle");
    await world.settle();
    expect(world.taking()).toEqual(["n1"]);
    world.ask("n1", "Idle");
    await world.settle();
    expect(world.taking()).toEqual(["n2"]);
  });

  it("are assigned only if each pool of the node has a free one (sriov-operator.md M-44)", async () => {
    const world = await fleet(3, 2);
    world.addPool("strict", { nodeSelector: { matchLabels: { strict: "yes" } }, maxUnavailable: 1 });
    for (const name of ["n0", "n1"]) world.api.put({ kind: "Node", metadata: { name, labels: { strict: "yes" } } });
    for (const name of ["n0", "n1", "n2"]) world.ask(name, "Drain_Required");
    await world.settle();
    expect(world.taking()).toEqual(["n0"]); // n2 would overtake n1, which keeps the other slot of "limited"
    expect(world.condition("n1", "DrainProgressing")).toContain('in pool "strict": 1 of 1 draining (n0)');
    world.ask("n0", "Idle");
    await world.settle();
    expect(world.taking()).toEqual(["n1", "n2"]);
  });

  it("are held by drains only, not by nodes that an administrator has cordoned", async () => {
    const world = await fleet(2, 1);
    world.cordon("n0");
    world.ask("n1", "Drain_Required");
    await world.settle();
    expect(world.taking()).toEqual(["n1"]);
  });

  it("stay with a cordoned node whose state is deleted by hand during the drain", async () => {
    const world = await fleet(2, 1);
    world.addPods("n1", pod("web", { holdsVfs: true }));
    world.budgets.set("web", "no");
    world.ask("n1", "Drain_Required");
    await world.settle();
    world.ask("n0", "Drain_Required");
    await world.settle();
    world.api.delete(sriovNetworkNodeStates, { name: "n1", namespace: drainNamespace });
    await world.settle();
    expect(world.taking()).toEqual([]);
    world.addState("n1"); // as our controller of node states does at once
    await world.settle();
    expect(world.taking()).toEqual(["n1"]);
    world.budgets.clear();
    world.advance(30_000);
    await world.settle();
    world.ask("n1", "Idle");
    await world.settle();
    expect(world.taking()).toEqual(["n0"]);
  });

  it("are assigned, and positions published, although the state of one node cannot be written", async () => {
    const world = await fleet(3, 1);
    world.addNode("broken", { pool: "other" });
    await world.settle();
    for (const name of ["broken", "n0", "n1"]) world.ask(name, "Drain_Required");
    world.beforeWrite = ({ path, body }) => {
      const isAdmission = path.endsWith("/broken") && JSON.stringify(body).includes("Draining");
      const causes = [{ field: "spec.interfaces[0].mtu", reason: "FieldValueInvalid" }];
      if (isAdmission) throw new KubeError(path, "Invalid", { details: { causes }, status: 422 });
    };
    await expect(world.decide()).rejects.toThrow("Invalid");
    await world.look("n1");
    expect([world.taking(), world.condition("n1", "DrainProgressing")]).toEqual([
      ["n0"],
      'False WaitingForSlot: waiting for a free slot in pool "limited": 1 of 1 draining (n0), next in line',
    ]);
  });

  it("become free when a node is deleted during its drain", async () => {
    const world = await fleet(2, 1);
    for (const name of ["n0", "n1"]) world.ask(name, "Drain_Required");
    await world.settle();
    world.api.delete({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false }, { name: "n0" });
    await world.settle();
    expect(world.answerOf("n1")).toBe("DrainComplete");
  });

  it("are held by nodes that an external drainer drains", async () => {
    const world = await fleet(2, 1);
    world.annotate(sriovNetworkNodeStates, "n0", {
      [annotations.useExternalDrainer]: "true",
      [annotations.currentState]: "Draining",
    });
    world.ask("n1", "Drain_Required");
    await world.settle();
    expect(world.answerOf("n1")).toBe("Idle");
  });

  it("are not assigned to nodes that an external drainer drains", async () => {
    const world = await fleet(2, 1);
    world.annotate(sriovNetworkNodeStates, "n0", { [annotations.useExternalDrainer]: "true" });
    world.ask("n0", "Drain_Required");
    await world.settle();
    expect([world.answerOf("n0"), world.specOf("n0"), world.states.get("n0")?.drain.conditions]).toEqual([
      "Idle",
      {},
      [],
    ]);
    world.ask("n1", "Drain_Required");
    await world.settle();
    expect(world.taking()).toEqual(["n1"]);
  });
});

describe("the limit", () => {
  it("holds if the cache does not show the last admission yet", async () => {
    const world = await fleet(3, 1);
    for (const name of ["n0", "n1", "n2"]) world.ask(name, "Drain_Required");
    world.api.caching = false;
    for (let time = 0; time < 3; time++) {
      await world.decide();
      world.restart(); // another leader, which has just begun
    }
    expect(world.taking()).toEqual(["n0"]);
  });

  it("holds if another leader admitted a node whose request the cache does not show yet", async () => {
    const world = await fleet(2, 1);
    world.ask("n1", "Drain_Required");
    world.api.caching = false;
    world.ask("n0", "Drain_Required");
    world.annotate(sriovNetworkNodeStates, "n0", { [annotations.currentState]: "Draining" });
    await world.decide();
    expect(world.taking()).toEqual(["n0"]);
  });

  it("holds if a write that failed for the client still arrives", async () => {
    const world = await fleet(2, 1);
    const late: (() => Promise<unknown>)[] = [];
    for (const name of ["n0", "n1"]) world.ask(name, "Drain_Required");
    world.beforeWrite = (request) => {
      world.beforeWrite = () => undefined;
      late.push(() => world.send(request));
      throw new Error("connection lost");
    };
    await expect(world.decide()).rejects.toThrow("connection lost");
    world.ask("n0", "Idle");
    await world.settle();
    expect(world.taking()).toEqual(["n1"]);
    await Promise.allSettled(late.map((send) => send()));
    expect(world.taking()).toEqual(["n1"]);
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
        const world = await fleet(names.length, 2);
        for (const name of names) world.addPods(name, pod(`on-${name}`, { holdsVfs: true }));
        let writes = 0;
        const live = () => {
          expect(world.taking().length).toBeLessThanOrEqual(2);
          writes++;
          if (writes % 3 === 0) world.api.caching = !world.api.caching;
          if (writes !== nth) return;
          hasDied = true;
          world.api.caching = false; // what the next one has heard is older
          throw new Killed();
        };
        if (isDone) world.afterWrite = live;
        else world.beforeWrite = live;
        for (const name of names) world.ask(name, "Drain_Required");
        const order = await drainAll(world, names);
        expect([nth, [...order].sort()]).toEqual([nth, names]);
        expect([nth, names.map((name) => world.specOf(name))]).toEqual([nth, names.map(() => ({}))]);
      }
      expect(nth).toBeGreaterThan(10);
    },
  );
});
