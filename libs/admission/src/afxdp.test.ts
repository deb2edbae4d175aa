// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type {
  AfxdpInterfaceStatus,
  AfxdpNetwork,
  AfxdpNetworkNodePolicy,
  AfxdpNetworkNodePolicySpec,
  AfxdpNetworkSpec,
  AfxdpOperatorConfig,
} from "@switchyard/api";
import { admit } from "./admit.ts";
import type { AfxdpView } from "./cluster-view.ts";
import { describeFinding } from "./finding.ts";
import type { Review } from "./review.ts";
import { namespace, node, pf, policy, stoppedClock, view } from "./testing/objects.ts";

const apiVersion = "afxdpnetwork.hns.dev/v1alpha1";
const workers = { labels: { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" } };
const nic: AfxdpInterfaceStatus = {
  pciAddress: "0000:3b:00.0",
  name: "ens1f0",
  vendor: "8086",
  driver: "ice",
  mtu: 1500,
  maxMtu: 9702,
  maxSfs: 64,
};
const other: AfxdpInterfaceStatus = { ...nic, pciAddress: "0000:3b:00.1", name: "ens1f1" };

function afxdpPolicy(name: string, spec: Partial<AfxdpNetworkNodePolicySpec> = {}): AfxdpNetworkNodePolicy {
  const base = {
    poolName: "fast",
    nodeSelector: { "node-role.kubernetes.io/worker": "" },
    nicSelector: { pfNames: ["ens1f0"] },
  };
  return { apiVersion, kind: "AfxdpNetworkNodePolicy", metadata: { name, namespace }, spec: { ...base, ...spec } };
}

/** Two nodes with the same two devices. */
function clusterOf(afxdp: Partial<AfxdpView> = {}, more: Parameters<typeof view>[0] = {}) {
  const states = new Map(["w1", "w2"].map((name) => [name, { interfaces: [nic, other] }]));
  const nodes = [node("w1", [pf()], workers), node("w2", [pf()], workers)];
  return view({ nodes, afxdp: { policies: [], states, ...afxdp }, ...more });
}

function review(object: Review, cluster = clusterOf()) {
  const { problems, warnings } = admit(object, cluster, stoppedClock);
  return { problems: problems.map(describeFinding), warnings };
}

const create = (object: AfxdpNetworkNodePolicy): Review => ({
  kind: "AfxdpNetworkNodePolicy",
  operation: "CREATE",
  object,
});
const admitted = { problems: [], warnings: [] };

describe("an AF_XDP policy", () => {
  it("is admitted without warnings if all of it is possible", () => {
    expect(review(create(afxdpPolicy("a", { numSfs: 64, mtu: 9000 })))).toEqual(admitted);
  });

  it.each([
    { spec: { nicSelector: {} }, problem: "spec.nicSelector: matches no device" },
    { spec: { deviceType: "vfio-pci" }, problem: "spec.deviceType: must be netdev or omitted" },
    {
      spec: { numSfs: 65 },
      problem: "spec.numSfs: 65 subfunctions requested, but 0000:3b:00.0 supports at most 64 (on w1, w2)",
    },
    { spec: { mtu: 9703 }, problem: "spec.mtu: MTU 9703 requested, but 0000:3b:00.0 supports at most 9702" },
    {
      spec: { mtu: 9000, externallyManaged: true },
      problem: "spec.mtu: MTU 9000 requested, but 0000:3b:00.0, which is externally managed, has MTU 1500",
    },
  ])("is refused with $spec", ({ spec, problem }) => {
    expect(review(create(afxdpPolicy("a", spec))).problems).toEqual([expect.stringContaining(problem)]);
  });

  it("is refused with provider upstream if its device plugin cannot offer the pool, and says what can", () => {
    const operatorConfig: AfxdpOperatorConfig = {
      apiVersion,
      kind: "AfxdpOperatorConfig",
      metadata: { name: "default", namespace },
      spec: { provider: "upstream" },
    };
    const cluster = clusterOf({ operatorConfig });
    expect(review(create(afxdpPolicy("a", { numSfs: 2 })), cluster).problems).toEqual([
      expect.stringContaining("spec.mode: must be primary with provider upstream"),
    ]);
    const interfaces = [{ ...nic, name: "eth1" }];
    const named = clusterOf({ operatorConfig, states: new Map([["w1", { interfaces }]]) });
    const { problems, warnings } = review(create(afxdpPolicy("a", { nicSelector: { vendor: "8086" } })), named);
    expect(problems).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("eth1 (0000:3b:00.0) is not offered")]);
  });

  it("has a warning if it names no port, and for each entry that matches no device", () => {
    expect(review(create(afxdpPolicy("a", { nicSelector: { driver: "ice" } }))).warnings).toEqual([
      "spec.nicSelector names no port: all 4 ports of driver ice are selected",
    ]);
    expect(review(create(afxdpPolicy("a", { nicSelector: { pfNames: ["ens1f0", "ens9"] } }))).warnings).toEqual([
      'spec.nicSelector.pfNames[1]: "ens9" is not a NIC on any of 2 nodes',
    ]);
  });

  it("is refused on a device that the host uses, on the nodes where it does", () => {
    const interfaces = [{ ...nic, usedBy: ["default route"] }];
    const cluster = clusterOf({ states: new Map([["w2", { interfaces }]]) });
    expect(review(create(afxdpPolicy("a")), cluster).problems).toEqual([
      "spec.nicSelector.pfNames[0]: ens1f0 (0000:3b:00.0) is not offered: the host uses it: default route (on w2)",
    ]);
  });

  it("is refused on a PF that SR-IOV policies select", () => {
    const cluster = clusterOf({}, { policies: [policy("sriov", { nicSelector: { pfNames: ["ens1f0"] } })] });
    expect(review(create(afxdpPolicy("a")), cluster).problems).toEqual([
      expect.stringContaining("ens1f0 (0000:3b:00.0) is not offered: SR-IOV policies select it"),
    ]);
    expect(review(create(afxdpPolicy("a", { nicSelector: { pfNames: ["ens1f1"] } })), cluster)).toEqual(admitted);
  });

  it("is refused if its pool has another mode or setting, or differs only in case", () => {
    const cluster = clusterOf({ policies: [afxdpPolicy("strong", { priority: 0, uid: 1500 })] });
    const on = (spec: Partial<AfxdpNetworkNodePolicySpec>) =>
      review(create(afxdpPolicy("a", { nicSelector: { pfNames: ["ens1f1"] }, ...spec })), cluster).problems;
    expect(on({ numSfs: 2, uid: 1500 })).toEqual([expect.stringContaining("spec.mode: must be primary")]);
    expect(on({})).toEqual([expect.stringContaining("spec.uid: must be 1500")]);
    expect(on({ poolName: "FAST" })).toEqual([expect.stringContaining("spec.poolName: differs only in case")]);
    expect(on({ uid: 1500 })).toEqual([]);
  });

  it("is admitted with a warning about a policy that it displaces", () => {
    const cluster = clusterOf({ policies: [afxdpPolicy("weak", { poolName: "FAST", priority: 50 })] });
    const strong = afxdpPolicy("strong", { nicSelector: { pfNames: ["ens1f1"] }, priority: 0 });
    expect(review(create(strong), cluster)).toEqual({
      problems: [],
      warnings: [expect.stringContaining("policy weak is no longer applied completely on w1, w2: spec.poolName")],
    });
  });

  it("is admitted with a warning if it has no effect, or selects all nodes", () => {
    const { metadata, ...rest } = afxdpPolicy("a");
    const elsewhere = { ...rest, metadata: { ...metadata, namespace: "tenant" } };
    expect(review(create(elsewhere)).warnings).toEqual([expect.stringContaining("this policy has no effect")]);
    const nowhere = afxdpPolicy("a", { nodeSelector: { rack: "9" } });
    expect(review(create(nowhere)).warnings).toEqual([expect.stringContaining("spec.nodeSelector: selects no node")]);
    const everywhere = afxdpPolicy("a", { nodeSelector: {} });
    expect(review(create(everywhere))).toEqual({
      problems: [],
      warnings: ["spec.nodeSelector is empty: all 2 nodes of the node set are selected"],
    });
    const nothing = afxdpPolicy("a", { nicSelector: { pfNames: ["none"] } });
    expect(review(create(nothing)).warnings).toEqual([expect.stringContaining("matches no device of the node")]);
  });

  it("keeps a violation in an update, which becomes a warning", () => {
    const oldObject = afxdpPolicy("a", { numSfs: 65 });
    const object = afxdpPolicy("a", { numSfs: 65, mtu: 1400 });
    const update: Review = { kind: "AfxdpNetworkNodePolicy", operation: "UPDATE", object, oldObject };
    expect(review(update)).toEqual({ problems: [], warnings: [expect.stringContaining("65 subfunctions requested")] });
  });
});

describe("an AfxdpNetwork", () => {
  const network = (spec: Partial<AfxdpNetworkSpec>, home = namespace): Review => {
    const object: AfxdpNetwork = {
      apiVersion,
      kind: "AfxdpNetwork",
      metadata: { name: "n", namespace: home },
      spec: { poolName: "fast", ...spec },
    };
    return { kind: "AfxdpNetwork", operation: "CREATE", object };
  };
  const cluster = clusterOf({ policies: [afxdpPolicy("a")] });

  it("is admitted, with a warning while no policy provides its pool", () => {
    expect(review(network({ ipam: '{"type": "host-local"}' }), cluster)).toEqual(admitted);
    expect(review(network({ poolName: "slow" }), cluster).warnings).toEqual([
      'spec.poolName: no AfxdpNetworkNodePolicy provides the pool "slow" yet',
    ]);
  });

  it("is refused with the position of an error in ipam, and in another namespace with networkNamespace", () => {
    expect(review(network({ ipam: '{"type": }' }), cluster).problems).toEqual([
      expect.stringContaining("spec.ipam: invalid JSON at line 1, column 10"),
    ]);
    expect(review(network({ networkNamespace: "b" }, "tenant"), cluster).problems).toEqual([
      expect.stringContaining("spec.networkNamespace: field can't be specified"),
    ]);
  });

  it("is admitted with a warning if it has the ipam type of the proposal's example", () => {
    expect(review(network({ ipam: '{"type": "afxdp", "subnet": "10.56.217.0/24"}' }), cluster)).toEqual({
      problems: [],
      warnings: [expect.stringContaining('spec.ipam: type "afxdp" is no IPAM plugin')],
    });
  });

  it("depends on the provider", () => {
    const ethtool = network({ ethtoolCmds: ["-X -device- equal 5"], ipam: '{"type": "static"}' });
    expect(review(ethtool, cluster).problems).toEqual([expect.stringContaining("only provider upstream does")]);
    const upstream = clusterOf({
      policies: [afxdpPolicy("a", { numSfs: 2 })],
      operatorConfig: {
        apiVersion,
        kind: "AfxdpOperatorConfig",
        metadata: { name: "default" },
        spec: { provider: "upstream" },
      },
    });
    expect(review(ethtool, upstream)).toEqual({
      problems: [],
      warnings: [expect.stringContaining("spec.mode: is primary")],
    });
  });
});

describe("an AfxdpOperatorConfig", () => {
  const config = (name: string, home: string): Review => {
    const metadata = { name, namespace: home };
    const object: AfxdpOperatorConfig = {
      apiVersion,
      kind: "AfxdpOperatorConfig",
      metadata,
      spec: { disableDrain: true },
    };
    return { kind: "AfxdpOperatorConfig", operation: "CREATE", object };
  };

  it("must be the one that the operator reads", () => {
    expect(review(config("default", namespace))).toEqual({
      problems: [],
      warnings: [expect.stringContaining("running pods lose their AF_XDP devices")],
    });
    expect(review(config("other", "tenant")).problems).toEqual([
      expect.stringContaining('metadata.name: must be "default"'),
      expect.stringContaining(`metadata.namespace: must be "${namespace}"`),
    ]);
  });

  it("warns about policies that the device plugin of provider upstream cannot offer", () => {
    const cluster = clusterOf({ policies: [afxdpPolicy("a", { numSfs: 2 }), afxdpPolicy("b", { poolName: "b" })] });
    const object: AfxdpOperatorConfig = {
      apiVersion,
      kind: "AfxdpOperatorConfig",
      metadata: { name: "default", namespace },
      spec: { provider: "upstream" },
    };
    expect(review({ kind: "AfxdpOperatorConfig", operation: "CREATE", object }, cluster)).toEqual({
      problems: [],
      warnings: [expect.stringContaining("spec.provider: policy a is not applied: spec.mode: must be primary")],
    });
  });
});
