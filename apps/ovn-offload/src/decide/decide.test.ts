// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { SimulatedCluster } from "../testing/simulated-cluster.ts";
import { decide } from "./decide.ts";
import type { ObservedCluster } from "./observed.ts";
import { withRefusals } from "./offload-statuses.ts";

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

describe("hosts whose MachineConfigPool is gone", () => {
  function ready(): SimulatedCluster {
    const cluster = openshift();
    cluster.entries = [entry("dpu")];
    cluster.settle();
    return cluster;
  }

  function withoutPools(cluster: SimulatedCluster, isGone: (name: string) => boolean) {
    const observed = cluster.observed();
    const machineConfigPools = (observed.machineConfigPools ?? []).filter(({ metadata }) => !isGone(metadata.name));
    return decide({ ...observed, machineConfigPools });
  }

  it.each([
    { what: "its pool", isGone: (name: string) => name === "dpu" },
    { what: "all pools", isGone: () => true },
  ])("stay as they are if somebody deletes $what, and the status says what to do", ({ isGone }) => {
    const { writes, overall, ...rest } = withoutPools(ready(), isGone);
    expect(writes).toEqual([]);
    expect(overall).toMatchObject({ state: "degraded" });
    expect(JSON.stringify(rest)).toContain(
      "MachineConfigPool dpu does not exist, so the host stays as it is: create the pool again",
    );
  });

  it.each(["4.12.1", "4.20.1"])(
    "stay as they are while other objects or kinds of OpenShift %s are absent",
    (version) => {
      const cluster = openshift();
      cluster.version = version;
      cluster.entries = [entry("dpu")];
      cluster.settle();
      cluster.settle();
      const observed = cluster.observed();
      const { configMaps, networks } = observed;
      const absent = (map: (typeof configMaps)["managementPorts"]) => ({
        ...map,
        isPossible: false,
        present: undefined,
      });
      const cases: Readonly<Record<string, Partial<ObservedCluster>>> = {
        ClusterVersion: { openshiftVersion: undefined },
        DNS: { dns: undefined },
        MachineConfigPool: { machineConfigPools: undefined },
        NetworkAttachmentDefinition: { networks: { ...networks, present: undefined } },
        SriovNetworkNodeState: { reportOf: () => undefined },
        "the namespaces of OVN-Kubernetes": {
          configMaps: {
            managementPorts: absent(configMaps.managementPorts),
            envOverrides: absent(configMaps.envOverrides),
            hardwareOffload: absent(configMaps.hardwareOffload),
          },
        },
      };
      for (const [what, change] of Object.entries(cases)) {
        // A MachineConfig that is applied again changes nothing.
        const writes = decide({ ...observed, ...change }).writes.filter(({ kind }) => kind !== "apply-machine-config");
        expect([what, writes]).toEqual([what, []]);
      }
    },
  );

  it("leave if the entry is removed, too", () => {
    const cluster = ready();
    cluster.entries = [];
    cluster.pools.delete("dpu");
    cluster.settle();
    expect(cluster.configs.size).toBe(0);
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

describe("a MachineConfig that somebody deletes", () => {
  const name = "99-dpu-ovn-hw-offload";

  function ready(): SimulatedCluster {
    const cluster = openshift();
    for (const node of ["c", "d", "e"]) cluster.addNode(node, "dpu");
    cluster.entries = [entry("dpu")];
    cluster.settle();
    return cluster;
  }

  it.each([
    { when: "is quiet", isPaused: false, isDegraded: false, reboots: 0 },
    { when: "is paused", isPaused: true, isDegraded: false, reboots: 0 },
    { when: "is degraded", isPaused: false, isDegraded: true, reboots: 0 },
    { when: "is being rolled out without it", isPaused: false, isDegraded: false, reboots: 1 },
  ])("is written again at once while the pool $when", ({ isPaused, isDegraded, reboots }) => {
    const cluster = ready();
    cluster.configs.delete(name);
    for (let i = 0; i < reboots; i++) cluster.react();
    cluster.pools.set("dpu", { isPaused, isDegraded });
    cluster.step();
    expect(cluster.configs.has(name)).toBe(true);
    const without = [...cluster.nodes.values()].filter(({ labels, isOffloaded }) => {
      return "node-role.kubernetes.io/dpu" in labels && !isOffloaded;
    });
    expect(without).toEqual([]);
  });

  it("waits for its conditions where no host runs it", () => {
    const cluster = ready();
    cluster.addPool("other");
    for (const node of ["a", "b"]) cluster.relabel(node, "other");
    cluster.addNode("f", "other", { hasReported: false });
    cluster.entries = [entry("dpu"), entry("other")];
    cluster.step();
    expect(cluster.configs.has("99-other-ovn-hw-offload")).toBe(false);
  });
});

describe("a node that joins a pool of hosts", () => {
  function joined(more: Parameters<SimulatedCluster["addNode"]>[2]): SimulatedCluster {
    const cluster = openshift();
    cluster.entries = [{ ...entry("dpu"), taint: "NoSchedule" }];
    cluster.settle();
    cluster.addNode("c", "dpu", more);
    cluster.settle();
    return cluster;
  }

  it.each([
    {
      when: "its card has another mode",
      more: { mode: "separated-host" as const },
      words: "is in mode separated-host",
    },
    { when: "its card has one VF", more: { totalvfs: 1 }, words: "supports 1 VF on each port, but OVN needs 2" },
  ])("gets no label and no management port while $when", ({ more, words }) => {
    const cluster = joined({ ...more });
    expect(cluster.nodes.get("c")).toMatchObject({ isOffloaded: true, taints: [] });
    expect(cluster.nodes.get("c")?.ownLabels).not.toContain("network.operator.openshift.io/dpu-host");
    expect(Object.keys(cluster.maps.get("managementPorts")?.data ?? {})).toEqual(["a", "b"]);
    expect(cluster.decide().overall?.message).toContain(words);
    Object.assign(cluster.nodes.get("c") ?? {}, { mode: "embedded-cpu", totalvfs: 16 });
    cluster.settle();
    expect(cluster.decide().overall).toEqual({ state: "ready", message: "" });
  });

  it("runs no pods of DNS if it is no host, and is told to leave the pool", () => {
    const cluster = joined({ cards: [] });
    expect(cluster.nodes.get("c")).toMatchObject({ isOffloaded: true, ownLabels: [] });
    expect(cluster.decide().overall).toMatchObject({
      state: "degraded",
      message: expect.stringMatching(
        /has no SmartNIC .*; it has no Open vSwitch any more: move it out of the pool$/,
      ) as unknown,
    });
    expect(cluster.dns.spec?.nodePlacement?.nodeSelector).toHaveProperty(["switchyard.io/dns-eligible"]);
    cluster.relabel("c", "worker");
    cluster.settle();
    expect(cluster.nodes.get("c")?.ownLabels).toEqual(["switchyard.io/dns-eligible"]);
  });
});

it("is degraded if the card of a host has lost its mode, and keeps the host", () => {
  const cluster = openshift();
  cluster.entries = [entry("dpu")];
  cluster.settle();
  const labels = { ...cluster.nodes.get("a")?.labels };
  Object.assign(cluster.nodes.get("a") ?? {}, { mode: "separated-host" });
  cluster.settle();
  expect(cluster.decide().overall).toMatchObject({ state: "degraded" });
  expect(cluster.nodes.get("a")?.labels).toEqual(labels);
});

describe("the number of VFs", () => {
  const numVfsOf = (cluster: SimulatedCluster) => [...cluster.policies.values()].map(({ spec }) => spec.numVfs);

  it("is the smallest that the cards of the pool report, at most 16", () => {
    for (const [limits, expected] of [
      [[8, 32], 8],
      [[32, 64], 16],
      [[1, 12], 12],
    ] as const) {
      const cluster = openshift();
      for (const [at, name] of ["a", "b"].entries()) {
        Object.assign(cluster.nodes.get(name) ?? {}, { totalvfs: limits[at] });
      }
      cluster.entries = [entry("dpu")];
      cluster.settle();
      expect(numVfsOf(cluster)).toEqual([expected]);
    }
  });

  it("is not requested from cards that cannot have two VFs; each is named", () => {
    const cluster = openshift();
    for (const node of cluster.nodes.values()) node.totalvfs = 0;
    cluster.entries = [entry("dpu")];
    cluster.settle();
    expect(numVfsOf(cluster)).toEqual([]);
    const { overall } = cluster.decide();
    expect(overall?.state).toBe("degraded");
    expect(overall?.message).toMatch(
      /^pool dpu: node a: the SmartNIC 0000:1b:00 supports 0 VFs on each port, but OVN needs 2, 1 of them as management port: set SRIOV_EN=1 and NUM_OF_VFS in its firmware with mlxconfig \(the card is in DPU mode\)$/,
    );
  });

  it("stays what a user chose, also if the policy is deleted", () => {
    const cluster = openshift();
    cluster.entries = [entry("dpu")];
    cluster.settle();
    for (const [name, { spec, ...policy }] of cluster.policies) {
      cluster.lostPolicies.push({ ...policy, spec: { ...spec, numVfs: 5, mtu: 9000 } });
      cluster.policies.delete(name);
    }
    cluster.settle();
    expect([...cluster.policies.values()]).toMatchObject([{ spec: { numVfs: 5, mtu: 9000 } }]);
  });

  it("is quoted from the config daemon if it cannot be had", () => {
    const cluster = openshift();
    cluster.entries = [entry("dpu")];
    Object.assign(cluster.nodes.get("a") ?? {}, { syncError: "16 VFs requested", mode: "nic" });
    cluster.settle();
    Object.assign(cluster.nodes.get("a") ?? {}, { mode: "embedded-cpu" });
    cluster.policies.clear();
    cluster.react();
    expect(cluster.decide().overall).toEqual({
      state: "degraded",
      message: "pool dpu: node a: the VFs of the SmartNIC do not all exist yet: 16 VFs requested",
    });
  });
});

describe("mgmt-port-resource-count", () => {
  function withCount(count: string, more: Partial<Parameters<SimulatedCluster["addNode"]>[2]> = {}): SimulatedCluster {
    const cluster = openshift();
    for (const node of cluster.nodes.values()) Object.assign(node, more);
    const data = { "mgmt-port-resource-name": "openshift.io/mgmt", "mgmt-port-resource-count": count };
    cluster.maps.set("hardwareOffload", { data, annotations: {}, isOwn: false });
    cluster.entries = [entry("dpu")];
    cluster.settle();
    return cluster;
  }

  it("reserves as many VFs on each host", () => {
    const cluster = withCount("8");
    expect(cluster.nodes.get("a")?.labels).toMatchObject({
      "switchyard.io/ovn-management-resource": "mgmt",
      "switchyard.io/ovn-management-vfs": "8",
    });
    expect(cluster.decide().overall).toEqual({ state: "ready", message: "" });
    const observed = cluster.observed();
    const fewer = (name: string) => {
      const report = observed.reportOf(name);
      return report && { ...report, managementVfs: 7 };
    };
    expect(decide({ ...observed, reportOf: fewer }).overall).toMatchObject({ state: "progressing" });
    cluster.entries = [];
    cluster.settle();
    expect(cluster.nodes.get("a")?.ownLabels).toEqual([]);
  });

  it("raises the number of VFs of a new policy", () => {
    expect([...withCount("20", { totalvfs: 64 }).policies.values()]).toMatchObject([{ spec: { numVfs: 21 } }]);
  });

  it.each([
    { count: "16", more: {}, words: "supports 16 VFs on each port, but OVN needs 17, 16 of them as management ports" },
    { count: "many", more: {}, words: "mgmt-port-resource-count of ConfigMap hardware-offload-config is" },
  ])("is degraded if it is $count", ({ count, more, words }) => {
    const { overall } = withCount(count, more).decide();
    expect(overall?.state).toBe("degraded");
    expect(overall?.message).toContain(words);
  });

  it("is degraded if the policy has no VF for pods", () => {
    const cluster = withCount("8");
    for (const [name, { spec, ...policy }] of cluster.policies)
      cluster.policies.set(name, { ...policy, spec: { ...spec, numVfs: 8 } });
    expect(cluster.decide().overall).toEqual({
      state: "degraded",
      message:
        "SriovNetworkNodePolicy ovn-offload-dpu-bluefield-2 has numVfs 8, but 8 VFs are the management ports of " +
        "OVN-Kubernetes: set numVfs to at least 9",
    });
  });
});

it("shows what a webhook has refused, at the pool and at all of them", () => {
  const cluster = openshift();
  cluster.entries = [entry("dpu")];
  cluster.step();
  const object = "SriovNetworkNodePolicy ovn-offload-dpu-bluefield-2";
  const refused = withRefusals(cluster.decide(), [{ object, pool: "dpu", words: "spec.numVfs: too many" }]);
  const message = `${object} is refused: spec.numVfs: too many`;
  expect(refused.overall).toEqual({ state: "degraded", message: `pool dpu: ${message}` });
  expect(refused.pools).toMatchObject([{ pool: "dpu", state: "degraded", message }]);
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
