// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { NodeExpectation } from "./judge-pod.ts";
import { judgePair, judgeSinglePod, type PairContext } from "./judge-pair.ts";
import type { Check, Layer } from "./layers.ts";
import { answererWith, otherWith, senderWith, type PodChanges } from "./testing/recorded-pods.ts";
import type { PodView } from "./pod-view.ts";

const expected: NodeExpectation = {
  resource: "openshift.io/fast",
  vlan: 100,
  mtu: undefined,
  isRdma: false,
  rdmaMode: undefined,
};

interface Scene {
  readonly answerer?: PodChanges;
  readonly sender?: PodChanges;
  readonly others?: readonly PodView[];
  readonly expected?: Partial<NodeExpectation>;
  readonly vlans?: Readonly<Record<string, number>>;
  readonly isThroughputWanted?: boolean;
}

function judge({ answerer, sender, others = [otherWith()], vlans = {}, ...more }: Scene = {}): Check {
  const context: PairContext = {
    others,
    otherVlan: 200,
    vlanOfVf: ({ name }) => vlans[name],
    expectationOf: () => ({ ...expected, ...more.expected }),
    isThroughputWanted: more.isThroughputWanted ?? false,
  };
  return judgePair(senderWith(sender), answererWith(answerer), context);
}

function textOf({ results, failedLayer }: Check): string {
  return results.find(({ layer }) => layer === failedLayer)?.text ?? "";
}

const lost = { received: 0, sent: 3, fragmented: 0 };
const noPackets = { small: { bytes: 84, ...lost }, full: { bytes: 1500, ...lost } };

describe("judgePair", () => {
  it("passes all layers that were observed", () => {
    const { status, results } = judge({ isThroughputWanted: true, sender: { target: { throughputMbps: 9400 } } });
    expect(status).toBe("ok");
    expect(results.filter((result) => result.status !== "ok").map(({ layer }) => layer)).toEqual(["rdma"]);
  });

  const faults: readonly (readonly [name: string, layer: Layer, scene: Scene, words: string])[] = [
    [
      "a node without free devices",
      "scheduled",
      {
        sender: {
          isScheduled: false,
          status: {
            phase: "Pending",
            conditions: [
              {
                type: "PodScheduled",
                status: "False",
                message: "0/1 nodes are available: 1 Insufficient openshift.io/fast.",
              },
            ],
          },
        },
      },
      "1 Insufficient openshift.io/fast",
    ],
    [
      "a kubelet that refuses the pod",
      "resource",
      {
        answerer: {
          seen: undefined,
          status: {
            phase: "Failed",
            reason: "UnexpectedAdmissionError",
            message: "Allocate failed due to no healthy devices present",
            containerStatuses: [],
          },
        },
      },
      "no healthy devices present",
    ],
    [
      "a CNI plugin that fails",
      "attach",
      {
        answerer: {
          seen: undefined,
          isAttached: false,
          status: { phase: "Pending", containerStatuses: [{ state: { waiting: { reason: "ContainerCreating" } } }] },
          events: [{ reason: "FailedCreatePodSandBox", message: "SRIOV-CNI failed to load netconf", count: 4 }],
        },
      },
      "SRIOV-CNI failed to load netconf",
    ],
    ["a pod without Multus", "attach", { answerer: { isAttached: false } }, "network-status"],
    [
      "an image that cannot be pulled",
      "started",
      {
        answerer: {
          seen: undefined,
          status: {
            phase: "Pending",
            containerStatuses: [{ state: { waiting: { reason: "ImagePullBackOff", message: "not found" } } }],
          },
        },
      },
      "ImagePullBackOff: not found",
    ],
    [
      "an image without Node.js",
      "started",
      {
        answerer: {
          seen: undefined,
          status: {
            phase: "Failed",
            containerStatuses: [
              { state: { terminated: { reason: "StartError", message: 'exec: "node": executable file not found' } } },
            ],
          },
        },
      },
      "executable file not found",
    ],
    ["a missing interface", "interface", { answerer: { found: null } }, "has no interface net1, only eth0, lo, net1"],
    [
      "an interface that is down",
      "link",
      { answerer: { found: { isUp: false, hasCarrier: false, addresses: [] } } },
      "is down",
    ],
    ["no carrier", "link", { sender: { found: { hasCarrier: false } } }, "no carrier"],
    [
      "equal MAC addresses",
      "mac",
      { sender: { found: { mac: "22:c5:72:ed:b3:27" } } },
      "the same MAC address 22:c5:72:ed:b3:27",
    ],
    [
      "a missing address",
      "address",
      { answerer: { found: { addresses: [] } } },
      "should have the address 192.168.78.2",
    ],
    [
      "two nodes whose IPAM gives the same address",
      "address",
      { answerer: { node: "w2" }, sender: { found: { addresses: ["192.168.78.2/24"] } } },
      "the same address 192.168.78.2",
    ],
    [
      "a missing route, with another one to the cluster",
      "route",
      { sender: { target: { ...noPackets, routeInterface: "eth0", neighbour: undefined } } },
      "packets leave by eth0",
    ],
    [
      "no route at all",
      "route",
      { sender: { target: { ...noPackets, routeInterface: undefined, neighbour: undefined } } },
      "there is no route",
    ],
    [
      "a pod in the VLAN of the other network",
      "vlan",
      {
        answerer: { heard: { c: "default/green" } },
        sender: { heard: {}, target: { ...noPackets, neighbour: { mac: "00:00:00:00:00:00", isComplete: false } } },
      },
      "should be in VLAN 100, but it is in VLAN 200",
    ],
    [
      "networks that are not separate",
      "vlan",
      { others: [otherWith({ heard: { b: "default/blue" } })] },
      "is not separate from network default/green (VLAN 200)",
    ],
    [
      "a VF with another VLAN than its network",
      "vlan",
      { others: [], vlans: { a: 300, b: 100 }, answerer: { heard: {} }, sender: { heard: {}, target: noPackets } },
      "has assigned VLAN 300 to the VF of the pod a",
    ],
    [
      "a switch that does not carry the VLAN",
      "vlan",
      { others: [], answerer: { node: "w2", heard: {} }, sender: { heard: {}, target: noPackets } },
      "No frame of VLAN 100 passes",
    ],
    [
      "a pod that does not answer ARP",
      "neighbour",
      {
        others: [],
        answerer: { heard: {} },
        sender: { heard: {}, target: { ...noPackets, neighbour: { mac: "00:00:00:00:00:00", isComplete: false } } },
      },
      "does not answer ARP",
    ],
    [
      "another device with the address",
      "neighbour",
      { sender: { target: { neighbour: { mac: "02:00:00:00:00:99", isComplete: true } } } },
      "02:00:00:00:00:99 answers ARP for the address of the pod a",
    ],
    [
      "packets that do not return",
      "ping",
      { sender: { target: noPackets } },
      "sent 3 packets to the pod a on node w1, and none returned",
    ],
    [
      "different MTUs",
      "mtu",
      { answerer: { found: { mtu: 1400 } }, sender: { target: { full: { bytes: 1500, ...lost } } } },
      "has the MTU 1500, that of the pod a on node w1 1400",
    ],
    [
      "a path with a smaller MTU",
      "mtu",
      { sender: { target: { full: { bytes: 9000, ...lost } } } },
      "small packets return",
    ],
    [
      "fragments",
      "mtu",
      { sender: { target: { full: { bytes: 1500, sent: 3, received: 3, fragmented: 6 } } } },
      "fragments",
    ],
    ["an MTU that is not that of the policy", "mtu", { expected: { mtu: 9000 } }, "A policy sets the MTU 9000"],
    [
      "another RDMA mode than that of the pool",
      "rdma",
      { expected: { rdmaMode: "exclusive" }, answerer: { seen: { rdmaMode: "shared" } } },
      "requires the RDMA mode exclusive, but node w1 has the mode shared",
    ],
    [
      "a pod without its RDMA device",
      "rdma",
      { expected: { isRdma: true } },
      "sees no RDMA device; the module ib_core is not loaded",
    ],
    [
      "a pod without the file of its RDMA device",
      "rdma",
      {
        expected: { isRdma: true },
        answerer: { seen: { rdmaDevices: ["mlx5_3"] } },
        sender: { seen: { rdmaDevices: ["mlx5_4"], hasUverbs: true } },
      },
      "has no file /dev/infiniband/uverbs",
    ],
    [
      "a stream that fails",
      "throughput",
      { isThroughputWanted: true, sender: { target: { throughputError: "connect ECONNREFUSED" } } },
      "connect ECONNREFUSED",
    ],
  ];
  it.each(faults)("names the layer of %s", (_name, layer, scene, words) => {
    const check = judge(scene);
    expect({ layer: check.failedLayer, text: textOf(check) }).toEqual({ layer, text: expect.stringContaining(words) });
  });

  it("says what to do for each layer that fails", () => {
    const failures = faults.flatMap(([, , scene]) => judge(scene).results.filter(({ status }) => status === "failed"));
    expect(failures.filter(({ next = "" }) => next === "")).toEqual([]);
  });

  it("believes a source-based route, which is not in the main table, by its neighbour entry", () => {
    expect(judge({ sender: { target: { routeInterface: "eth0" } } }).status).toBe("ok");
  });

  it("believes packets of two nodes whose switch drops broadcasts", () => {
    const check = judge({ others: [], answerer: { node: "w2", heard: {} }, sender: { heard: {} } });
    expect([check.status, check.results.find(({ layer }) => layer === "vlan")?.status]).toEqual(["ok", "notChecked"]);
  });

  it("checks frames only if the network gives no addresses", () => {
    const bare = { addresses: [] };
    const answerer = { ...answererWith({ found: bare }), attachment: { addresses: [] } };
    const sender = { ...senderWith({ found: bare, target: { pod: "x" } }), attachment: { addresses: [] } };
    const context = {
      others: [],
      otherVlan: 0,
      vlanOfVf: () => undefined,
      expectationOf: () => expected,
      isThroughputWanted: false,
    };
    const check = judgePair(sender, answerer, context);
    const status = (layer: Layer) => check.results.find((result) => result.layer === layer)?.status;
    expect([check.status, status("ping"), status("address")]).toEqual(["ok", "ok", "notChecked"]);
    const deaf = judgePair(
      { ...sender, observations: sender.observations.filter(({ kind }) => kind !== "heard") },
      answerer,
      context,
    );
    expect(deaf.failedLayer).toBe("ping");
  });

  it("does not check the network of a VF that a user's driver has", () => {
    const vfio = { found: null, seen: { vfioGroups: ["42"] } };
    const check = judgeSinglePod(answererWith(vfio), expected);
    expect([check.status, check.results.find(({ layer }) => layer === "link")?.status]).toEqual(["ok", "notChecked"]);
  });
});
