// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { SimulatedCluster } from "../testing/simulated-cluster.ts";
import { decide } from "./decide.ts";
import type { ObservedCluster } from "./observed.ts";

const entry = (role: string) => ({ nodeSelector: { [`node-role.kubernetes.io/${role}`]: "" } });

function openshift(): SimulatedCluster {
  const cluster = new SimulatedCluster({ isOpenshift: true });
  cluster.addPool("dpu");
  for (const name of ["a", "b"]) cluster.addNode(name, "dpu");
  cluster.addNode("w", "worker", { cards: [] });
  return cluster;
}

function plain(): SimulatedCluster {
  const cluster = new SimulatedCluster({ isOpenshift: false });
  for (const name of ["a", "b"]) cluster.addNode(name, "dpu");
  cluster.addNode("w", "worker", { cards: [] });
  return cluster;
}

const clusters = [
  { of: "OpenShift", make: openshift },
  { of: "a plain cluster", make: plain },
];

describe.each(clusters)("selected hosts of $of", ({ make }) => {
  it("become ready, and then nothing is written", () => {
    const cluster = make();
    cluster.entries = [entry("dpu")];
    cluster.settle();
    const { pools, overall, writes } = cluster.decide();
    expect(overall).toEqual({ state: "ready", message: "" });
    expect(pools).toMatchObject([{ pool: "dpu", nodeCount: 2, readyNodeCount: 2, state: "ready" }]);
    expect(writes.filter(({ kind }) => kind !== "apply-machine-config")).toEqual([]);
  });

  it("are restored completely when they are no longer selected", () => {
    const cluster = make();
    cluster.maps.set("managementPorts", { data: { other: "x" }, annotations: {}, isOwn: false });
    cluster.maps.set("envOverrides", { data: { a: "OVN_KUBE_LOG_LEVEL=5\n" }, annotations: {}, isOwn: false });
    cluster.dns = {
      metadata: { annotations: {} },
      spec: { nodePlacement: { nodeSelector: { "kubernetes.io/os": "linux" } } },
    };
    const before = cluster.snapshot();
    cluster.entries = [{ ...entry("dpu"), taint: "NoSchedule" }];
    cluster.settle();
    expect(cluster.snapshot()).not.toEqual(before);
    cluster.entries = [];
    cluster.settle();
    expect(cluster.snapshot()).toEqual(before);
    expect(cluster.decide()).toEqual({ writes: [], pools: [], overall: undefined });
  });

  it.each(["missing", "deleting"] as const)("stay as they are while the SriovOperatorConfig is %s", (entries) => {
    const cluster = make();
    cluster.entries = [{ ...entry("dpu"), taint: "NoSchedule" }];
    cluster.settle();
    const before = cluster.snapshot();
    cluster.entries = entries;
    cluster.settle();
    expect(cluster.snapshot()).toEqual(before);
    const { writes, overall } = cluster.decide();
    expect(writes).toEqual([]);
    expect(overall?.state).toBe("degraded");
    expect(overall?.message).toMatch(
      /^pool dpu: node a: SriovOperatorConfig default .* so the host stays as it is: create it/,
    );
    cluster.entries = [];
    cluster.settle();
    expect(cluster.decide()).toEqual({ writes: [], pools: [], overall: undefined });
  });

  it("keep what they share while the SriovOperatorConfig is missing, also when no node is left in the pool", () => {
    const cluster = make();
    cluster.entries = [entry("dpu")];
    cluster.settle();
    for (const name of ["a", "b"]) cluster.nodes.delete(name);
    cluster.settle();
    cluster.entries = "missing";
    const before = cluster.snapshot();
    cluster.settle();
    expect(cluster.snapshot()).toEqual(before);
  });

  it("stay as they are while a host has not reported", () => {
    const cluster = make();
    cluster.entries = [entry("dpu")];
    cluster.settle();
    const before = cluster.snapshot();
    for (const node of cluster.nodes.values()) node.hasReported = false;
    cluster.settle();
    expect(cluster.snapshot()).toEqual(before);
  });
});

describe("the network for pods", () => {
  it("has the resource of the pool's policy, also after a user changed it", () => {
    const cluster = openshift();
    cluster.entries = [entry("dpu")];
    cluster.settle();
    expect([...cluster.networks.values()]).toMatchObject([{ name: "default", resource: "openshift.io/bluefield2" }]);
    for (const [name, { spec, ...policy }] of cluster.policies)
      cluster.policies.set(name, { ...policy, spec: { ...spec, resourceName: "fast" } });
    cluster.settle();
    expect([...cluster.networks.values()]).toMatchObject([{ name: "default", resource: "openshift.io/fast" }]);
  });

  it("stays as it is while the policies are missing", () => {
    const cluster = openshift();
    cluster.addPool("other");
    cluster.addNode("c", "other", { cards: ["a2dc"] });
    cluster.entries = [entry("dpu"), entry("other")];
    cluster.settle();
    expect([...cluster.networks.keys()]).toEqual(["default", "default-bluefield3"]);
    for (const policies of [[], cluster.observed().policies.slice(1), cluster.observed().policies.slice(0, 1)]) {
      const { writes } = decide({ ...cluster.observed(), policies });
      expect(writes.filter(({ kind }) => kind.endsWith("-network"))).toEqual([]);
    }
  });

  it("of somebody else with its name is reported, and stays", () => {
    const cluster = openshift();
    const foreign = { name: "default", resourceVersion: "1", isOwn: false, resource: "", isCurrent: false };
    cluster.networks.set("default", { ...foreign, isDefaultNetwork: true });
    cluster.entries = [entry("dpu")];
    cluster.settle();
    expect(cluster.decide().overall).toMatchObject({
      state: "degraded",
      message: expect.stringContaining("NetworkAttachmentDefinition default/default was created by another") as unknown,
    });
    expect(cluster.networks.get("default")).toMatchObject(foreign);
  });

  it("is not written without Multus", () => {
    const cluster = plain();
    cluster.hasMultus = false;
    cluster.entries = [entry("dpu")];
    cluster.settle();
    expect(cluster.networks.size).toBe(0);
    expect(cluster.decide().overall?.state).toBe("ready");
  });
});

describe("hosts of a pool whose selectors became invalid", () => {
  it("stay as they are", () => {
    const cluster = openshift();
    cluster.entries = [entry("dpu")];
    cluster.settle();
    const observed = cluster.observed();
    const machineConfigPools = observed.machineConfigPools?.map((pool) => {
      const nodeSelector = { matchExpressions: [{ key: "a", operator: "Like" }] };
      return pool.metadata.name === "dpu" ? { ...pool, spec: { ...pool.spec, nodeSelector } } : pool;
    }) as ObservedCluster["machineConfigPools"];
    expect(decide({ ...observed, machineConfigPools }).writes).toEqual([]);
  });
});

it("restores the last node that leaves a pool, while the pool stays selected", () => {
  const cluster = openshift();
  cluster.addPool("other");
  cluster.addNode("c", "other");
  cluster.entries = [entry("dpu"), entry("other")];
  cluster.settle();
  cluster.relabel("c", "worker");
  cluster.settle();
  expect(cluster.nodes.get("c")).toMatchObject({ ownLabels: ["switchyard.io/dns-eligible"], isOffloaded: false });
  expect(cluster.policies.has("ovn-offload-other-bluefield-2")).toBe(true);
});

describe("the policy of a model", () => {
  const names = ["ovn-offload-dpu-bluefield-2", "ovn-offload-dpu-bluefield-3"];

  function replaced(): SimulatedCluster {
    const cluster = openshift();
    cluster.entries = [entry("dpu")];
    cluster.settle();
    const node = cluster.nodes.get("b");
    if (node !== undefined) node.cards = ["a2dc"];
    cluster.settle();
    expect([...cluster.policies.keys()].toSorted()).toEqual(names);
    return cluster;
  }

  it("is deleted when all hosts of the pool report a card of another model", () => {
    const cluster = replaced();
    for (const node of cluster.nodes.values()) if (node.cards.length > 0) node.cards = ["a2dc"];
    cluster.settle();
    expect([...cluster.policies.keys()]).toEqual(names.slice(1));
    expect(cluster.decide().overall).toEqual({ state: "ready", message: "" });
  });

  it.each([
    { when: "a host has not reported", change: { hasReported: false } },
    { when: "a host reports no card at the moment", change: { cards: [] } },
    { when: "a host reports two cards", change: { cards: ["a2d6", "a2dc"] } },
  ])("stays while $when", ({ change }) => {
    const cluster = replaced();
    Object.assign(cluster.nodes.get("a") ?? {}, { cards: ["a2dc"], ...change });
    cluster.settle();
    expect([...cluster.policies.keys()].toSorted()).toEqual(names);
  });

  it("stays while the pool has no nodes", () => {
    const cluster = replaced();
    for (const name of ["a", "b"]) cluster.relabel(name, "worker");
    cluster.settle();
    expect([...cluster.policies.keys()].toSorted()).toEqual(names);
  });
});

it("gives the files that disable Open vSwitch only to hosts of a plain cluster that keep their network", () => {
  const cluster = plain();
  cluster.addNode("c", "dpu", { network: { openVSwitchInterfaces: ["br0"], madeByConfigureOvs: false } });
  cluster.addNode("d", "dpu", { network: undefined });
  cluster.entries = [entry("dpu")];
  cluster.settle();
  expect([...cluster.nodes].map(([name, { isOffloaded }]) => [name, isOffloaded])).toEqual([
    ...[
      ["a", true],
      ["b", true],
      ["w", false],
      ["c", false],
      ["d", false],
    ],
  ]);
  for (const name of ["c", "d"]) Object.assign(cluster.nodes.get(name) ?? {}, { network: {} });
  cluster.settle();
  expect(cluster.decide().overall).toEqual({ state: "ready", message: "" });
});

it("keeps hosts that run without Open vSwitch when their config daemon does not report their network", () => {
  const cluster = openshift();
  cluster.entries = [entry("dpu")];
  cluster.settle();
  for (const node of cluster.nodes.values()) node.network = undefined;
  const before = cluster.decide();
  expect(before.overall).toEqual({ state: "ready", message: "" });
  const observed = cluster.observed();
  const older = (name: string) => {
    const report = observed.reportOf(name);
    return report && { ...report, hostNetwork: undefined };
  };
  expect(decide({ ...observed, reportOf: older }).overall).toEqual({ state: "ready", message: "" });
});

describe("the MachineConfig of a pool", () => {
  it.each([
    {
      when: "a node has no SmartNIC",
      change: (cluster: SimulatedCluster) => {
        cluster.addNode("c", "dpu", { cards: [] });
      },
      state: "degraded",
      words: "no SmartNIC",
    },
    {
      when: "a node has two",
      change: (cluster: SimulatedCluster) => {
        cluster.addNode("c", "dpu", { cards: ["a2d6", "a2dc"] });
      },
      state: "degraded",
      words: "has 2 SmartNICs",
    },
    {
      when: "a card is in the wrong mode",
      change: (cluster: SimulatedCluster) => {
        cluster.addNode("c", "dpu", { mode: "nic" });
      },
      state: "progressing",
      words: "is in mode nic",
    },
    {
      when: "the default route of a node is on a bridge of NMState",
      change: (cluster: SimulatedCluster) => {
        cluster.addNode("c", "dpu", { network: { openVSwitchInterfaces: ["br-ex"], madeByConfigureOvs: false } });
      },
      state: "degraded",
      words: "node c of pool dpu would boot without network, because its default route is on br-ex",
    },
    {
      when: "an older config daemon does not report how a node reaches its network",
      change: (cluster: SimulatedCluster) => {
        cluster.addNode("c", "dpu", { network: undefined });
      },
      state: "progressing",
      words: "node c: the config daemon has not reported whether the host's network needs Open vSwitch",
    },
    {
      when: "the pool is paused",
      change: (cluster: SimulatedCluster) => {
        cluster.pools.set("dpu", { isPaused: true, isDegraded: false });
      },
      state: "progressing",
      words: "is paused",
    },
    {
      when: "the pool is degraded",
      change: (cluster: SimulatedCluster) => {
        cluster.pools.set("dpu", { isPaused: false, isDegraded: true });
      },
      state: "progressing",
      words: "is degraded",
    },
    {
      when: "another program has created it",
      change: (cluster: SimulatedCluster) => {
        cluster.foreignMachineConfigs.add("99-dpu-ovn-hw-offload");
      },
      state: "degraded",
      words: "was created by another program",
    },
  ])("is not written if $when", ({ change, state, words }) => {
    const cluster = openshift();
    change(cluster);
    cluster.entries = [entry("dpu")];
    cluster.settle();
    expect(cluster.machineConfigWrites).toEqual([]);
    const { overall } = cluster.decide();
    expect(overall?.state).toBe(state);
    expect(overall?.message).toContain(words);
  });

  it("arrives late if the pool is paused after each write, and the status says so", () => {
    const cluster = openshift();
    for (const entries of [[entry("dpu")], []]) {
      cluster.entries = entries;
      const writes = cluster.machineConfigWrites.length;
      for (let steps = 0; cluster.machineConfigWrites.length === writes; steps++) {
        // A loop without an end would be cut off after minutes, without a reason.
        if (steps === 50)
          throw new Error(`no MachineConfig in ${steps} steps: ${JSON.stringify(cluster.decide().overall)}`);
        for (const write of cluster.decide().writes) cluster.apply(write);
        cluster.pools.set("dpu", { isPaused: cluster.machineConfigWrites.length > writes, isDegraded: false });
        cluster.react();
      }
      cluster.settle();
      expect(cluster.decide().overall?.message).toBe("pool dpu: node a: MachineConfigPool dpu is paused");
      cluster.pools.set("dpu", { isPaused: false, isDegraded: false });
      cluster.settle();
    }
    expect(cluster.decide().overall).toBeUndefined();
  });

  it("is deleted with its pool, whose nodes return to the workers", () => {
    const cluster = openshift();
    cluster.entries = [entry("dpu")];
    cluster.settle();
    cluster.pools.delete("dpu");
    for (const name of ["a", "b"]) cluster.relabel(name, "worker");
    cluster.settle();
    expect(cluster.machineConfigWrites).toEqual(["+99-dpu-ovn-hw-offload", "-99-dpu-ovn-hw-offload"]);
    expect(cluster.maps.size).toBe(0);
  });
});

describe("any sequence of changes", () => {
  const roles = fc.constantFrom("dpu", "other", "worker");
  const change = fc.oneof(
    fc.record({ kind: fc.constant("steps" as const), count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant("select" as const), pools: fc.subarray(["dpu", "other"]), isTainted: fc.boolean() }),
    fc.record({ kind: fc.constant("lose" as const), entries: fc.constantFrom("missing", "deleting") }),
    fc.record({ kind: fc.constant("move" as const), node: fc.constantFrom("a", "b", "w"), role: roles }),
    fc.record({ kind: fc.constant("report" as const), node: fc.constantFrom("a", "b"), isThere: fc.boolean() }),
    fc.record({ kind: fc.constant("pause" as const), pool: fc.constantFrom("dpu", "other"), isPaused: fc.boolean() }),
    fc.record({ kind: fc.constant("remove" as const), node: fc.constantFrom("b") }),
  );

  it.each(clusters)("keeps the order of the steps and can be undone in $of", ({ make }) => {
    const holds = fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const cluster = make();
      cluster.addPool("other");
      for (const one of changes) {
        if (one.kind === "steps") {
          for (let i = 0; i < one.count; i++) {
            // Killed after any write: the next pass decides from what is there.
            for (const write of cluster.decide().writes) {
              cluster.apply(write);
              expect(cluster.violations()).toEqual([]);
            }
            cluster.react();
          }
        } else if (one.kind === "select") {
          cluster.entries = one.pools.map((pool) => ({
            ...entry(pool),
            ...(one.isTainted && { taint: "NoSchedule" as const }),
          }));
        } else if (one.kind === "lose") {
          cluster.entries = one.entries;
          expect(cluster.decide().writes).toEqual([]);
        } else if (one.kind === "move") {
          cluster.relabel(one.node, one.role);
        } else if (one.kind === "report") {
          const node = cluster.nodes.get(one.node);
          if (node !== undefined) node.hasReported = one.isThere;
        } else if (one.kind === "pause") {
          cluster.pools.set(one.pool, { isPaused: one.isPaused, isDegraded: false });
        } else cluster.nodes.delete(one.node);
      }
      for (const pool of cluster.pools.keys()) cluster.pools.set(pool, { isPaused: false, isDegraded: false });
      for (const node of cluster.nodes.values()) node.hasReported = true;
      cluster.entries = [];
      cluster.settle();
      expect(cluster.decide()).toEqual({ writes: [], pools: [], overall: undefined });
      expect([cluster.maps.size, cluster.configs.size, cluster.policies.size]).toEqual([0, 0, 0]);
      expect(cluster.dns).toEqual({ metadata: { annotations: {} }, spec: {} });
      const left = [...cluster.nodes.values()].flatMap(({ ownLabels, taints }) => [...ownLabels, ...taints]);
      expect(left).toEqual([]);
    });
    fc.assert(holds, { numRuns: 500 });
  });
});
