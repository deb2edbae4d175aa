// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type {
  BridgeNetwork,
  BridgeNetworkSpec,
  SriovNetworkNodePolicy,
  SriovNetworkPoolConfigSpec,
  SriovNetworkSpec,
  SriovOperatorConfigSpec,
  SystemSettings,
} from "@switchyard/api";
import { rdmaModeDifference } from "@switchyard/plan";
import { admit } from "./admit.ts";
import { describeFinding } from "./finding.ts";
import type { Review } from "./review.ts";
import { network, node, operatorConfig, pf, policy, pool, stoppedClock, view } from "./testing/objects.ts";

function review(review: Review, cluster = view()) {
  const { problems, warnings } = admit(review, cluster, stoppedClock);
  return { problems: problems.map(describeFinding), warnings };
}

describe("a pool", () => {
  const create = (spec: SriovNetworkPoolConfigSpec): Review => ({
    kind: "SriovNetworkPoolConfig",
    operation: "CREATE",
    object: pool("mine", spec),
  });

  it.each<{ spec: SriovNetworkPoolConfigSpec; at: readonly string[] }>([
    { spec: { maxUnavailable: "30%" }, at: [] },
    { spec: { maxUnavailable: 3 }, at: [] },
    { spec: { maxUnavailable: "0%" }, at: ["spec.maxUnavailable"] },
    { spec: { maxUnavailable: "101%" }, at: ["spec.maxUnavailable"] },
    { spec: { maxUnavailable: "many" }, at: ["spec.maxUnavailable"] },
    { spec: { maxUnavailable: -1 }, at: ["spec.maxUnavailable"] },
    { spec: { ovsHardwareOffloadConfig: { name: "mcp" } }, at: [] },
    { spec: { ovsHardwareOffloadConfig: { name: "mcp" }, nodeSelector: {} }, at: [] }, // sriov-operator.md M-40
    {
      spec: { ovsHardwareOffloadConfig: { name: "mcp" }, nodeSelector: { matchLabels: { a: "b" } } },
      at: ["spec.ovsHardwareOffloadConfig"],
    },
    { spec: { ovsHardwareOffloadConfig: { name: "mcp" }, maxUnavailable: 1 }, at: ["spec.ovsHardwareOffloadConfig"] },
    {
      spec: { nodeSelector: { matchExpressions: [{ key: "a", operator: "In" }] } },
      at: ["spec.nodeSelector.matchExpressions[0].values"],
    },
  ])("with $spec", ({ spec, at }) => {
    expect(admit(create(spec), view(), stoppedClock).problems.map(({ field }) => field)).toEqual(at);
  });

  it("warns that 0 blocks all drains (sriov-operator.md M-33)", () => {
    expect(review(create({ maxUnavailable: 0, nodeSelector: { matchLabels: { a: "b" } } })).warnings).toEqual([
      "spec.maxUnavailable: 0 blocks all drains until the value is raised",
    ]);
  });

  it("is refused if it shares a node with another pool, but an existing one can be changed (sriov-operator.md M-44)", () => {
    const cluster = view({
      nodes: [node("w1"), node("w2", [], { labels: { rack: "7" } })],
      pools: [pool("racks", { nodeSelector: { matchLabels: { rack: "7" } } }), pool("mine", {})],
    });
    expect(review(create({}), cluster).problems).toEqual([
      "spec.nodeSelector: pool racks also selects w2: a node can be in one pool only",
    ]);
    const oldObject = pool("mine", {});
    const object = pool("mine", { maxUnavailable: 2 });
    const updated = review({ kind: "SriovNetworkPoolConfig", operation: "UPDATE", object, oldObject }, cluster);
    expect(updated).toEqual({
      problems: [],
      warnings: [
        expect.stringContaining("spec.nodeSelector is empty"),
        expect.stringContaining("pool racks also selects w2"),
      ],
    });
  });

  it.each<{ spec: SriovNetworkPoolConfigSpec; selectsAll: boolean }>([
    { spec: {}, selectsAll: true },
    { spec: { nodeSelector: { matchLabels: {} } }, selectsAll: true },
    { spec: { nodeSelector: { matchLabels: { a: "b" } } }, selectsAll: false },
    { spec: { nodeSelector: { matchExpressions: [{ key: "a", operator: "Exists" }] } }, selectsAll: false },
    { spec: { ovsHardwareOffloadConfig: { name: "mcp" }, nodeSelector: {} }, selectsAll: false },
  ])("with $spec gets a warning that it selects all nodes: $selectsAll", ({ spec, selectsAll }) => {
    const cluster = view({ nodes: [node("w1"), node("w2"), { ...node("cp1"), labels: {} }] });
    expect(review(create(spec), cluster)).toEqual({
      problems: [],
      warnings: selectsAll ? ["spec.nodeSelector is empty: all 2 nodes of the node set are selected"] : [],
    });
  });
});

describe("a network of InfiniBand", () => {
  it.each([
    {
      linkState: undefined,
      warnings: [expect.stringContaining("spec.linkState: is not set, so the ports of VFs stay Down")],
    },
    { linkState: "enable", warnings: [] },
  ] as const)("has a warning without linkState, and none with it: $linkState", ({ linkState, warnings: expected }) => {
    const object = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovIBNetwork",
      metadata: { name: "ib", namespace: "sriov-network-operator" },
      spec: { resourceName: "r", ...(linkState && { linkState }) },
    } as const;
    const { warnings } = review({ kind: "SriovIBNetwork", operation: "CREATE", object }, view());
    expect(warnings.filter((text) => text.startsWith("spec.linkState"))).toEqual(expected);
  });
});

describe("a pool with an RDMA mode", () => {
  const object = pool("mine", { rdmaMode: "exclusive", nodeSelector: { matchLabels: { rdma: "yes" } } });
  const worker = (name: string, system: SystemSettings, rdma = "yes") =>
    node(name, [pf()], { labels: { rdma }, system });

  it("is admitted with the warning of the plan for nodes in another mode", () => {
    const nodes = [
      worker("right", { rdmaMode: "exclusive" }),
      ...["w1", "w2"].map((name) => worker(name, { rdmaMode: "shared" })),
      worker("w3", {}),
      worker("elsewhere", { rdmaMode: "shared" }, "no"),
      node("undiscovered", [], { labels: { rdma: "yes" } }),
    ];
    const planned = rdmaModeDifference({ system: { rdmaMode: "exclusive" } }, { system: { rdmaMode: "shared" } });
    const kind = "SriovNetworkPoolConfig";
    expect(review({ kind, operation: "CREATE", object }, view({ nodes }))).toEqual({
      problems: [],
      warnings: [
        `spec.rdmaMode: w1, w2: ${planned ?? "no difference"}`,
        "spec.maxUnavailable: is not set: these 2 nodes may be drained at once",
      ],
    });
    const limited = { ...object, spec: { ...object.spec, maxUnavailable: 1 } };
    expect(review({ kind, operation: "CREATE", object: limited }, view({ nodes })).warnings).toHaveLength(1);
  });
});

describe("the operator's configuration", () => {
  const kind = "SriovOperatorConfig";

  it("must have the fixed name and namespace, and can be deleted", () => {
    const object = operatorConfig({}, "other");
    expect(review({ kind, operation: "CREATE", object }).problems).toEqual([
      'metadata.name: must be "default": the operator reads no other SriovOperatorConfig',
    ]);
    expect(
      review({ kind, operation: "CREATE", object: operatorConfig({}) }, view({ namespace: "x" })).problems,
    ).toEqual(['metadata.namespace: must be "x", the namespace of the operator']);
    expect(review({ kind, operation: "DELETE", oldObject: object }).problems).toEqual([]);
  });

  it("must have labels that a node can have, and an existing one can be changed elsewhere", () => {
    const object = operatorConfig({ configDaemonNodeSelector: { 'node-role.kubernetes.io/worker"': "true" } });
    expect(review({ kind, operation: "CREATE", object }).problems).toEqual([
      expect.stringContaining('spec.configDaemonNodeSelector: "node-role.kubernetes.io/worker\\"" is not a label key'),
    ]);
    const oldObject = object;
    const changed = operatorConfig({ ...object.spec, enableInjector: true });
    expect(review({ kind, operation: "UPDATE", object: changed, oldObject }).problems).toEqual([]);
  });

  it("names the nodes that leave the node set, with the pods that use devices there", () => {
    const use = { resources: ["openshift.io/fast"], pfs: [], isUncertain: false };
    const cluster = view({
      nodes: [node("w1", [], { labels: { sriov: "yes" } }), node("w2"), node("w3")],
      podsOn: (name) => (name === "w2" ? [use] : []),
    });
    const oldObject = operatorConfig({});
    const change = (spec: SriovOperatorConfigSpec) =>
      review({ kind, operation: "UPDATE", object: operatorConfig(spec), oldObject }, cluster).warnings;
    expect(change({ configDaemonNodeSelector: { sriov: "yes" } })).toEqual([
      "spec.configDaemonNodeSelector: w2, w3 leave the node set: their daemons and device plugins stop, and VFs stay as they are; 1 pod uses devices there",
    ]);
    expect(change({ configDaemonNodeSelector: { sriov: "no" } })[0]).toBe(
      "spec.configDaemonNodeSelector: none of 3 nodes has the labels sriov=no: no node is configured",
    );
    expect(change({ configDaemonNodeSelector: {} })).toEqual([
      "spec.configDaemonNodeSelector: is empty: nodes with the labels node-role.kubernetes.io/worker=, kubernetes.io/os=linux are selected, 3 nodes",
    ]);
    expect(change({ logLevel: 2 })).toEqual([]);
  });

  it("must not disable drains while a node is configured", () => {
    const busy = view({ nodes: [node("w1", [{ pciAddress: "0000:3b:00.0" }], { syncStatus: "InProgress" })] });
    const off = operatorConfig({ disableDrain: true });
    const warnings = ["spec.disableDrain: nodes are reconfigured without a drain: running pods lose their VFs"];
    const problems = [
      'spec.disableDrain: must not be set while nodes are being configured (syncStatus "InProgress"): w1',
    ];
    expect(review({ kind, operation: "CREATE", object: off }, view())).toEqual({ problems: [], warnings });
    const switchOff: Review = { kind, operation: "UPDATE", oldObject: operatorConfig({}), object: off };
    expect(review(switchOff, busy)).toEqual({ problems, warnings });
    expect(review({ kind, operation: "UPDATE", oldObject: off, object: off }, busy)).toEqual({
      problems: [],
      warnings,
    });
  });

  it("accepts only harmless variables for the config daemon", () => {
    const configDaemonEnvVars = { NODE_OPTIONS: "--require /tmp/x", METRICS_ADDRESS: ":29120", GODEBUG: "x=1" };
    const object = operatorConfig({ configDaemonEnvVars });
    const { problems, warnings } = review({ kind, operation: "CREATE", object });
    expect(problems).toEqual([
      expect.stringMatching(/^spec.configDaemonEnvVars.NODE_OPTIONS: must not be set.* privileged/),
    ]);
    expect(warnings).toEqual(["spec.configDaemonEnvVars.GODEBUG: has no effect: only upstream's daemon reads it"]);
    const update: Review = { kind, operation: "UPDATE", oldObject: object, object };
    expect(review(update).problems).toEqual([]); // an existing violation does not block other changes
  });

  it("warns about fields that have no effect", () => {
    const dead = { enableOvsOffload: true };
    const object = operatorConfig({ ...dead, featureGates: { bridges: true, metricsExporter: true } });
    const { problems, warnings } = review({ kind, operation: "CREATE", object });
    expect(problems).toEqual([]);
    expect(warnings.map((line) => line.split(":")[0])).toEqual(["spec.enableOvsOffload", "spec.featureGates"]);
  });
});

describe("a network", () => {
  const cluster = view({ policies: [policy("p1", { resourceName: "fast" })] });
  const create = (spec: Partial<SriovNetworkSpec>, namespace?: string): Review => ({
    kind: "SriovNetwork",
    operation: "CREATE",
    object: network(spec, namespace),
  });

  it.each<{ spec: Partial<SriovNetworkSpec>; at: readonly string[] }>([
    { spec: {}, at: [] },
    { spec: { resourceName: "" }, at: ["spec.resourceName"] },
    { spec: { ipam: '{"type": "host-local"}', capabilities: '{"mac": true}', metaPlugins: "" }, at: [] },
    { spec: { ipam: '{"type": host-local}' }, at: ["spec.ipam"] },
    { spec: { ipam: "[]", capabilities: "foo" }, at: ["spec.capabilities", "spec.ipam"] },
    { spec: { metaPlugins: '{"type": "tuning"}, {"type": "vrf"}' }, at: [] },
    { spec: { metaPlugins: '{"type": "tuning"}, ' }, at: ["spec.metaPlugins"] },
    { spec: { metaPlugins: '"tuning"' }, at: ["spec.metaPlugins"] },
    { spec: { ipam: '{"a": "it\'s \\"quoted\\"\\n $(rm)"}' }, at: [] },
  ])("with $spec", ({ spec, at }) => {
    expect(admit(create(spec), cluster, stoppedClock).problems.map(({ field }) => field)).toEqual(at);
  });

  it("is refused with the message of its condition if its configuration is too large", () => {
    expect(review(create({ ipam: `{"a": "${"é".repeat(300_000)}"}` }), cluster).problems).toEqual([
      expect.stringMatching(/^spec: .* CNI configuration of 587 KiB; the limit is 512 KiB$/),
    ]);
  });

  it("may set networkNamespace in the operator's namespace only", () => {
    const spec = { networkNamespace: "tenant" };
    expect(review(create(spec), cluster).problems).toEqual([]);
    expect(review(create(spec, "tenant"), cluster).problems).toEqual([
      "spec.networkNamespace: field can't be specified if the resource is not in the sriov-network-operator namespace; " +
        "omit it, and the NetworkAttachmentDefinition is created in the namespace of the network",
    ]);
  });

  it("warns if no policy provides its resource yet", () => {
    expect(review(create({ resourceName: "slow" }), cluster)).toEqual({
      problems: [],
      warnings: ['spec.resourceName: no SriovNetworkNodePolicy provides the resource "slow" yet'],
    });
  });
});

describe("a network whose resource has other VFs than it needs", () => {
  const bridge = (kind: "OVSNetwork" | "BridgeNetwork", more = {}): Review => {
    const object = { ...network(more), kind };
    return { kind, operation: "CREATE", object } as Review;
  };
  const withSpec = (more: Partial<SriovNetworkNodePolicy["spec"]>) =>
    view({ policies: [policy("p1", { resourceName: "fast", numVfs: 2, ...more })] });

  it.each(["OVSNetwork", "BridgeNetwork"] as const)("warns about a %s on VFs without representors", (kind) => {
    const message = `spec.resourceName: VFs of "fast" by p1 have no representor, which the bridge of a ${kind} needs: set spec.eSwitchMode to "switchdev" there`;
    expect(review(bridge(kind), withSpec({})).warnings).toEqual([message]);
    expect(review(bridge(kind), withSpec({ eSwitchMode: "legacy" })).warnings).toEqual([message]);
    expect(review(bridge(kind), withSpec({ eSwitchMode: "switchdev" })).warnings).toEqual([]);
    expect(review(bridge(kind), withSpec({ externallyManaged: true })).warnings).toEqual([]);
  });

  it("warns about a vlan that a trunk replaces", () => {
    const cluster = withSpec({ eSwitchMode: "switchdev" });
    const message = "spec.vlan: has no effect beside spec.trunk: omit one of them";
    expect(review(bridge("OVSNetwork", { vlan: 5, trunk: [{ id: 7 }] }), cluster).warnings).toEqual([message]);
    expect(review(bridge("OVSNetwork", { trunk: [{ id: 7 }] }), cluster).warnings).toEqual([]);
  });

  const sriov = (kind: "SriovNetwork" | "SriovIBNetwork"): Review => {
    const object = network({ linkState: "auto" });
    return { kind, operation: "CREATE", object: { ...object, kind } } as Review;
  };
  const onCards = (linkType: string, selector = {}) =>
    view({
      nodes: [node("w1", [pf({ linkType })]), node("w2", [pf({ linkType })])],
      policies: [policy("p1", { resourceName: "fast", nicSelector: { vendor: "8086" }, ...selector })],
    });

  it.each<{ kind: "SriovNetwork" | "SriovIBNetwork"; linkType: string; warning?: string }>([
    { kind: "SriovNetwork", linkType: "ETH" },
    { kind: "SriovIBNetwork", linkType: "IB" },
    { kind: "SriovNetwork", linkType: "IB", warning: "are InfiniBand devices: use a SriovIBNetwork for them" },
    { kind: "SriovIBNetwork", linkType: "ETH", warning: "are Ethernet devices: use a SriovNetwork for them" },
  ])("compares a $kind with the link type $linkType of the cards", ({ kind, linkType, warning }) => {
    const expected = warning === undefined ? [] : [`spec.resourceName: the VFs of "fast" ${warning}`];
    expect(review(sriov(kind), onCards(linkType)).warnings).toEqual(expected);
    // The policy decides if it requests a link type: the port will have it.
    const other = linkType === "IB" ? "ETH" : "IB";
    expect(review(sriov(kind), onCards(other, { linkType: linkType.toLowerCase() })).warnings).toEqual(expected);
  });

  it("says nothing about cards that are not known, or differ", () => {
    expect(review(sriov("SriovIBNetwork"), withSpec({})).warnings).toEqual([]);
    const pfs = [pf({ linkType: "IB" }), pf({ pciAddress: "0000:5e:00.0", name: "ens2f0", linkType: "ETH" })];
    const policies = [policy("p1", { resourceName: "fast", nicSelector: { vendor: "8086" } })];
    expect(review(sriov("SriovIBNetwork"), view({ nodes: [node("w1", pfs)], policies })).warnings).toEqual([]);
  });
});

describe("a BridgeNetwork with VLANs", () => {
  const bridged = (name: string, vlanFiltering?: boolean) => {
    const bridge = { linux: vlanFiltering === undefined ? {} : { bridge: { vlanFiltering } } };
    return policy(name, { resourceName: "lin", eSwitchMode: "switchdev", bridge });
  };
  const blue = (spec: Partial<BridgeNetworkSpec>): BridgeNetwork => ({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "BridgeNetwork",
    metadata: { name: "blue", namespace: "tenant" },
    spec: { resourceName: "lin", ...spec },
  });
  const create = (spec: Partial<BridgeNetworkSpec>): Review => ({
    kind: "BridgeNetwork",
    operation: "CREATE",
    object: blue(spec),
  });
  const update = (from: Partial<BridgeNetworkSpec>, to: Partial<BridgeNetworkSpec>): Review => ({
    kind: "BridgeNetwork",
    operation: "UPDATE",
    oldObject: blue(from),
    object: blue(to),
  });
  const plain = view({ policies: [bridged("plain")] });
  const refusal =
    "needs a bridge that filters by VLAN, but the bridges of SriovNetworkNodePolicy plain do not, so pods of all VLANs would " +
    "share one segment: set spec.bridge.linux.bridge.vlanFiltering to true in each SriovNetworkNodePolicy with resourceName lin";

  it.each([
    { spec: { vlan: 100 }, fields: ["spec.vlan"] },
    { spec: { trunk: [{ minID: 10, maxID: 20 }] }, fields: ["spec.trunk"] },
    { spec: { vlan: 100, bridge: "br-0000_3b_00.0" }, fields: ["spec.vlan"] },
  ])("is refused with $spec while the bridge of its resource does not filter", ({ spec, fields }) => {
    expect(review(create(spec), plain).problems).toEqual(fields.map((field) => `${field}: ${refusal}`));
  });

  it.each([
    { does: "without VLANs", spec: {}, policies: [bridged("plain")] },
    { does: "with a bridge of its own", spec: { vlan: 100, bridge: "br0" }, policies: [bridged("plain")] },
    { does: "on bridges that filter", spec: { vlan: 100 }, policies: [bridged("filtering", true)] },
  ])("is accepted $does", ({ spec, policies }) => {
    expect(review(create(spec), view({ policies })).problems).toEqual([]);
  });

  it.each([{ vlan: 100 }, { trunk: [{ id: 10 }] }])("gets a warning without setUplinkVlan: %j", (spec) => {
    const seen = view({ policies: [bridged("filtering", true)] });
    const [field = ""] = Object.keys(spec);
    expect(review(create(spec), seen).warnings).toEqual([
      expect.stringMatching(`^spec.${field}: is not added to the uplink .* set spec.setUplinkVlan to true$`),
    ]);
    expect(review(create({ ...spec, setUplinkVlan: true }), seen).warnings).toEqual([]);
  });

  it("is announced as Degraded if its bridges stop to filter", () => {
    const config = operatorConfig({ featureGates: { manageSoftwareBridges: true } });
    const stored = bridged("p", true);
    const seen = view({ policies: [stored], operatorConfig: config });
    const change = (object: typeof stored): Review => ({
      ...{ kind: "SriovNetworkNodePolicy", operation: "UPDATE", oldObject: stored, object },
    });
    const warning = "spec.bridge.linux.bridge.vlanFiltering: is no longer true";
    expect(review(change(bridged("p")), seen).warnings).toContainEqual(expect.stringContaining(warning));
    expect(review(change(stored), seen).warnings.join()).not.toContain(warning);
  });

  it("names all policies whose bridges do not filter", () => {
    const policies = [bridged("a"), bridged("b", false), bridged("c", true)];
    expect(review(create({ vlan: 1 }), view({ policies })).problems[0]).toContain(
      "the bridges of the policies a, b do not",
    );
  });

  it("that exists can be updated, with a warning, but gets no further VLANs", () => {
    const kept = review(update({ vlan: 100 }, { vlan: 100, mtu: 9000 }), plain);
    expect(kept.problems).toEqual([]);
    expect(kept.warnings[0]).toMatch(/^spec\.vlan: needs a bridge that filters by VLAN/);
    expect(review(update({ vlan: 100 }, { vlan: 100, trunk: [{ id: 10 }] }), plain).problems).toEqual([
      `spec.trunk: ${refusal}`,
    ]);
    expect(review(update({}, { vlan: 100 }), plain).problems).toEqual([`spec.vlan: ${refusal}`]);
  });
});
