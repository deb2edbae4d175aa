// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicySpec } from "@switchyard/api";
import { plan } from "@switchyard/plan";
import { admit } from "./admit.ts";
import { unlistedNics } from "@switchyard/policy";
import type { ClusterView } from "./cluster-view.ts";
import { describeFinding } from "./finding.ts";
import { create, namespace, node, operatorConfig, pf, policy, stoppedClock, update, view } from "./testing/objects.ts";

const oneNode = { nodes: [node("w1", [pf()])] };

/** The problems for which the policy is refused, as "field: message". */
function problems(spec: Partial<SriovNetworkNodePolicySpec>, cluster: Partial<ClusterView> = {}): readonly string[] {
  return admit(create(policy("p1", spec)), view(cluster), stoppedClock).problems.map(describeFinding);
}

function fields(spec: Partial<SriovNetworkNodePolicySpec>, cluster: Partial<ClusterView> = {}): readonly string[] {
  return admit(create(policy("p1", spec)), view(cluster), stoppedClock).problems.map(({ field }) => field);
}

function warnings(spec: Partial<SriovNetworkNodePolicySpec>, cluster: Partial<ClusterView>): readonly string[] {
  const { allowed, warnings: lines } = admit(create(policy("p1", spec)), view(cluster), stoppedClock);
  return allowed ? lines : ["refused"];
}

describe("a policy by itself", () => {
  it("says of an empty resourceName what it is for", () => {
    expect(problems({ resourceName: "" })).toEqual([
      "spec.resourceName: must not be empty: pods request the VFs by this name",
    ]);
  });

  it.each<{ what: string; spec: Partial<SriovNetworkNodePolicySpec>; at: readonly string[] }>([
    { what: "a plain one", spec: {}, at: [] },
    { what: "an empty resourceName", spec: { resourceName: "" }, at: ["spec.resourceName"] },
    { what: "a resourceName of 64", spec: { resourceName: "a".repeat(64) }, at: ["spec.resourceName"] },
    { what: "a resourceName of 63", spec: { resourceName: "a".repeat(63) }, at: [] },
    { what: "a dash at the end", spec: { resourceName: "a-" }, at: ["spec.resourceName"] },
    { what: "a dot", spec: { resourceName: "a.b" }, at: ["spec.resourceName"] },
    { what: "a shell in the name", spec: { resourceName: "a'; rm -rf /\n" }, at: ["spec.resourceName"] },
    { what: "no selector", spec: { nicSelector: {} }, at: ["spec.nicSelector"] },
    { what: "empty lists", spec: { nicSelector: { pfNames: [], rootDevices: [] } }, at: ["spec.nicSelector"] },
    {
      what: "a bad address",
      spec: { nicSelector: { rootDevices: ["3b:00.0"] } },
      at: ["spec.nicSelector.rootDevices[0]"],
    },
    { what: "a vendor in capitals", spec: { nicSelector: { vendor: "15B3" } }, at: ["spec.nicSelector.vendor"] },
    { what: "a netFilter alone", spec: { nicSelector: { netFilter: "aws/NetworkID:1" } }, at: [] },
    { what: "an invalid netFilter", spec: { nicSelector: { netFilter: "x" } }, at: ["spec.nicSelector.netFilter"] },
    {
      what: "a netFilter with fields that it excludes",
      spec: { nicSelector: { netFilter: "a:1", vendor: "8086" }, eSwitchMode: "switchdev", linkType: "ib" },
      at: ["spec.nicSelector.netFilter", "spec.eSwitchMode", "spec.linkType", "spec.linkType"],
    },
    {
      what: "# without a range (sriov-operator.md M-41)",
      spec: { nicSelector: { pfNames: ["ens1f0#"] } },
      at: ["spec.nicSelector.pfNames[0]"],
    },
    {
      what: "#5 (sriov-operator.md M-41)",
      spec: { nicSelector: { pfNames: ["ens1f0#5"] } },
      at: ["spec.nicSelector.pfNames[0]"],
    },
    {
      what: "#0-1-2 (sriov-operator.md M-41)",
      spec: { nicSelector: { pfNames: ["ens1f0#0-1-2"] } },
      at: ["spec.nicSelector.pfNames[0]"],
    },
    {
      what: "a reversed range",
      spec: { nicSelector: { pfNames: ["a", "b#5-2"] } },
      at: ["spec.nicSelector.pfNames[1]"],
    },
    {
      what: "a range beyond numVfs",
      spec: { nicSelector: { pfNames: ["a#0-8"] } },
      at: ["spec.nicSelector.pfNames[0]"],
    },
    { what: "a range up to the last VF", spec: { nicSelector: { pfNames: ["a#0-7"] } }, at: [] },
    { what: "no VFs", spec: { numVfs: 0 }, at: ["spec.numVfs"] },
    { what: "RDMA with vfio-pci", spec: { deviceType: "vfio-pci", isRdma: true }, at: ["spec.isRdma"] },
    { what: "switchdev on InfiniBand", spec: { eSwitchMode: "switchdev", linkType: "ib" }, at: ["spec.linkType"] },
    { what: "vDPA on legacy", spec: { vdpaType: "virtio" }, at: ["spec.vdpaType"] },
    {
      what: "vDPA with vfio-pci",
      spec: { vdpaType: "vhost", deviceType: "vfio-pci", eSwitchMode: "switchdev" },
      at: ["spec.vdpaType"],
    },
    { what: "a bridge on legacy", spec: { bridge: { ovs: {} } }, at: ["spec.eSwitchMode"] },
    {
      what: "two bridges",
      spec: { bridge: { ovs: {}, linux: {} }, eSwitchMode: "switchdev" },
      at: ["spec.bridge"],
    },
    { what: "a Linux bridge on legacy", spec: { bridge: { linux: {} } }, at: ["spec.eSwitchMode"] },
    {
      what: "a bridge on an externally managed PF",
      spec: { bridge: { ovs: {} }, eSwitchMode: "switchdev", externallyManaged: true },
      at: ["spec.externallyManaged"],
    },
    { what: "an empty bridge object (sriov-operator.md M-39)", spec: { bridge: {} }, at: [] },
  ])("$what", ({ spec, at }) => {
    expect(fields(spec)).toEqual(at);
  });

  it("has all of its problems reported at once", () => {
    const at = fields({ resourceName: "", numVfs: 2, nicSelector: { pfNames: ["a#x", "b#0-5"] }, vdpaType: "virtio" });
    expect(at).toEqual([
      "spec.resourceName",
      "spec.nicSelector.pfNames[0]",
      "spec.nicSelector.pfNames[1]",
      "spec.vdpaType",
    ]);
  });

  it('is ignored in each namespace if its name is "default" (sriov-operator.md M-37)', () => {
    for (const where of [namespace, "elsewhere"]) {
      const result = admit(
        create(policy("default", { resourceName: "", nicSelector: {} }, where)),
        view(),
        stoppedClock,
      );
      expect(result.allowed).toBe(true);
      expect(result.warnings).toContain('metadata.name: a policy named "default" has no effect');
      expect(result.patch).toEqual([]);
    }
  });

  it("in another namespace has no effect, and is still checked by itself", () => {
    const elsewhere = (numVfs: number) =>
      admit(create(policy("p1", { numVfs }, "elsewhere")), view(oneNode), stoppedClock);
    expect(elsewhere(65)).toMatchObject({ allowed: true, warnings: [expect.stringContaining("has no effect")] });
    expect(elsewhere(0).allowed).toBe(false);
  });
});

describe("a policy and the list of supported NICs", () => {
  it.each<{ unlisted: "refuse" | "warn" | "any"; expected: [boolean, number] }>([
    { unlisted: "refuse", expected: [false, 0] },
    { unlisted: "warn", expected: [true, 1] },
    { unlisted: "any", expected: [true, 0] },
  ])("names an unlisted NIC, with the setting $unlisted", ({ unlisted, expected }) => {
    const nics = { ...view().nics, unlisted };
    for (const nicSelector of [{ vendor: "dead" }, { deviceID: "beef" }, { vendor: "8086", deviceID: "1015" }]) {
      const { allowed, warnings: lines } = admit(create(policy("p1", { nicSelector })), view({ nics }), stoppedClock);
      expect([allowed, lines.length]).toEqual(expected);
    }
  });

  it("matches unlisted NICs without naming them", () => {
    const nodes = [node("w1", [pf({ deviceID: "ffff" })]), node("w2", [pf()]), node("w3", [pf({ deviceID: "ffff" })])];
    const words =
      "spec.nicSelector: matches NIC 8086:ffff, which is not in the list of supported NICs, on w1, w3; " +
      "if it works, add it to the ConfigMap supported-nic-ids";
    expect(warnings({}, { nodes })[0]).toBe(words);
    expect(warnings({ nodeSelector: { "kubernetes.io/hostname": "w2" } }, { nodes })).toEqual([]);
    const strict = { ...view().nics, unlisted: unlistedNics(operatorConfig({ supportedNics: "strict" })) };
    expect(problems({}, { nodes, nics: strict })).toEqual([words]);
    const known = [...view().nics.known, { vendor: "8086", pf: "ffff", vf: "fffe" }];
    expect(problems({}, { nodes, nics: { ...strict, known } })).toEqual([]);
  });

  it("for a vendor leaves out unlisted NICs, and the refusal says how to select them", () => {
    const nodes = [node("w1", [pf({ deviceID: "1521" })])];
    const [line] = problems({ nicSelector: { vendor: "8086" } }, { nodes });
    expect(line).toContain("not in the list of supported NICs, or without SR-IOV: 0000:3b:00.0; to use them, ");
    expect(problems({ nicSelector: { vendor: "8086", deviceID: "1521" } }, { nodes })).toEqual([]);
  });

  it("accepts a listed VF as the NIC of a virtual machine", () => {
    const nodes = [node("vm", [pf({ deviceID: "154c", netFilter: "aws/NetworkID:1" })])];
    const nics = { ...view().nics, unlisted: unlistedNics(operatorConfig({ supportedNics: "strict" })) };
    expect(problems({ nicSelector: { netFilter: "aws/NetworkID:1" } }, { nodes, nics })).toEqual([]);
    expect(unlistedNics(operatorConfig({ supportedNics: "warn" }))).toBe("warn");
    expect(unlistedNics(undefined)).toBe("warn");
  });

  it("refuses the device ID of a VF", () => {
    const [line] = warnings({ nicSelector: { vendor: "8086", deviceID: "154c" } }, {});
    expect(line).toBe(
      'spec.nicSelector.deviceID: "8086:154c" is the ID of a VF; use the device ID of its PF, such as "158a"',
    );
  });
});

describe("a policy with an empty nodeSelector", () => {
  const everywhere = { nodeSelector: {} };
  const nodes = [node("w1", [pf()]), node("w2", [pf()]), { ...node("cp1"), labels: {} }];

  it("is admitted with a warning that says how many nodes it selects", () => {
    expect(problems(everywhere, { nodes })).toEqual([]);
    expect(warnings(everywhere, { nodes })[0]).toBe(
      "spec.nodeSelector is empty: all 2 nodes of the node set are selected",
    );
    expect(warnings(everywhere, oneNode)[0]).toBe(
      "spec.nodeSelector is empty: the only node of the node set is selected",
    );
  });

  it("is admitted with the warning without a number if the nodes are not known", () => {
    expect(warnings(everywhere, {})).toEqual(["spec.nodeSelector is empty: all nodes of the node set are selected"]);
  });
});

describe("a policy on nodes", () => {
  it("is admitted with a warning while no node exists or is discovered", () => {
    expect(warnings({ nodeSelector: { rack: "7" } }, oneNode)).toEqual(["spec.nodeSelector: matches no node yet"]);
    expect(warnings({}, { nodes: [node("w1")] })).toEqual([
      "spec.nodeSelector: the NICs of w1 are not discovered yet: the policy's status will show whether they match",
    ]);
    const outside = { ...node("infra"), labels: {} };
    expect(warnings({ nodeSelector: {} }, { nodes: [outside] })).toEqual([
      "spec.nodeSelector: matches only nodes without a config daemon (infra): " +
        "check spec.configDaemonNodeSelector of SriovOperatorConfig/default",
    ]);
  });

  it("is refused if all NICs are discovered and none matches, with the available NICs", () => {
    const nowhere = problems({ nicSelector: { pfNames: ["ens1f0x#0-1"] } }, oneNode);
    expect(nowhere).toEqual([
      "spec.nicSelector: matches no NIC on w1; nearest match: ens1f0 (0000:3b:00.0): the name is ens1f0, not ens1f0x; " +
        "available NICs on w1: ens1f0 (0000:3b:00.0, 8086:158b)",
    ]);
    const nodes = [node("w1", [pf()]), node("w2")];
    expect(problems({ nicSelector: { vendor: "15b3" } }, { nodes })).toEqual([]);
  });

  it("is refused with the field that does not match the nearest NIC, and all NICs of the nodes that have it", () => {
    const ports = Array.from({ length: 9 }, (_, index) =>
      pf({ pciAddress: `0000:5e:00.${index % 8}`, name: `eth${index}` }),
    );
    const near = pf({ pciAddress: "0000:5e:01.0", name: "ens3f0np0", vendor: "15b3", deviceID: "101d" });
    const nodes = [node("w1", [pf()]), node("w2", [...ports, near])];
    const selector = { rootDevices: ["0000:af:00.0"], pfNames: ["ens3f0np0"] };
    const [line = ""] = problems({ nicSelector: selector }, { nodes });
    expect(line).toContain(
      "matches no NIC on any of 2 nodes; " +
        "nearest match: ens3f0np0 (0000:5e:01.0): the address is not in rootDevices 0000:af:00.0; available NICs on w2: ",
    );
    for (const { name = "" } of [...ports, near]) expect(line).toContain(`${name} (`);
    expect(line).not.toContain("ens1f0 (");
  });

  it("is told the device IDs of the PFs that its nodes have, if it uses the ID of their VFs", () => {
    const spec = { nicSelector: { vendor: "8086", deviceID: "154c" } };
    const [line = ""] = admit(create(policy("p1", spec)), view({ nodes: [node("w1", [pf()])] }), stoppedClock).warnings;
    expect(line).toBe(
      'spec.nicSelector.deviceID: "8086:154c" is the ID of a VF; use the device ID of its PF, on these nodes "158b"',
    );
  });

  it("has a warning with the number of ports if it selects several and names none", () => {
    const two = [pf(), pf({ pciAddress: "0000:3b:00.1", name: "ens1f1" })];
    const nodes = [node("w1", two), node("w2", two)];
    const vendor = { nicSelector: { vendor: "8086" } };
    const text = "spec.nicSelector names no port: all 4 ports of vendor 8086 are selected";
    expect(warnings(vendor, { nodes })).toContain(text);
    expect(warnings({ nicSelector: { vendor: "8086", pfNames: [] } }, { nodes })).toContain(text);
    expect(warnings({ nicSelector: { vendor: "8086", deviceID: "158b" } }, { nodes })).toContain(
      "spec.nicSelector names no port: all 4 ports of vendor 8086 and device ID 158b are selected",
    );
    expect(warnings({ nicSelector: { vendor: "8086", pfNames: ["ens1f0"] } }, { nodes }).join()).not.toContain("port");
    expect(warnings(vendor, oneNode).join()).not.toContain("names no port");
  });

  it("has a warning for each entry of pfNames and rootDevices that matches no NIC, and for nodes without any", () => {
    const nodes = [
      node("w1", [pf()]),
      node("w2", [pf()]),
      node("w3", [pf({ name: "eth9", pciAddress: "0000:01:00.0" })]),
    ];
    expect(warnings({ nicSelector: { pfNames: ["ens1f0#0-3", "uplink1#0-3"] } }, { nodes })).toEqual(
      expect.arrayContaining([
        "spec.nicSelector: matches no NIC on w3",
        'spec.nicSelector.pfNames[1]: "uplink1#0-3" is not a NIC on any of 3 nodes',
      ]),
    );
    const addresses = { nicSelector: { rootDevices: ["0000:af:00.0", "0000:3b:00.0"] } };
    expect(warnings(addresses, { nodes }).join()).toContain('rootDevices[0]: "0000:af:00.0" is not a NIC on any of 3');
    expect(warnings({ nicSelector: { pfNames: ["ens1f0", "eth9"] } }, { nodes }).join()).not.toContain("matches no");
    const nameless = [node("w1", [pf(), pf({ name: "", pciAddress: "0000:3b:00.1" })])];
    expect(warnings({ nicSelector: { pfNames: ["ens1f0", "x"] } }, { nodes: nameless }).join()).not.toContain(
      "matches no",
    );
  });

  it("is refused beyond the limits of a NIC, with the nodes", () => {
    const nodes = ["w1", "w2", "w3", "w4", "w5"].map((name) => node(name, [pf({ totalvfs: name === "w1" ? 64 : 7 })]));
    expect(problems({ numVfs: 9, mtu: 9703 }, { nodes })).toEqual([
      expect.stringMatching(/^spec.numVfs: 9 VFs .* 0000:3b:00.0 .* 7 on w2, w3, w4, w5$/),
      "spec.mtu: MTU 9703 requested, but 0000:3b:00.0 supports at most 9702 on w1, w2, w3 and 2 more",
    ]);
  });

  it.each([
    { what: "no VFs", lie: { totalvfs: 0 }, spec: {}, field: "spec.numVfs" },
    { what: "a small MTU", lie: { maxMtu: 576 }, spec: { mtu: 9000 }, field: "spec.mtu" },
    { what: "another vendor", lie: { vendor: "14e4" }, spec: { vdpaType: "virtio" }, field: "spec.vdpaType" },
    { what: "the name of another PF", lie: { altNames: ["ens2f0"] }, spec: {}, field: "spec.nicSelector.pfNames[0]" },
  ] as const)("is not refused because one node of many reports $what, but warned", ({ lie, spec, field }) => {
    const names = Array.from({ length: 5 }, (_, index) => `w${index + 1}`);
    const honest = field === "spec.vdpaType" ? { vendor: "15b3", deviceID: "101d" } : {};
    const second = pf({ ...honest, name: "ens2f0", pciAddress: "0000:5e:00.0" });
    const nodes = names.map((name) => node(name, [pf({ ...honest, ...(name === "w5" && lie) }), second]));
    const other = policy("other", { nicSelector: { pfNames: ["ens2f0"] }, ...spec });
    const mine = { nicSelector: { pfNames: ["ens1f0"] }, eSwitchMode: "switchdev", ...spec } as const;
    const text = (lines: readonly string[]) => lines.filter((line) => line.startsWith(`${field}: `));
    expect(problems(mine, { nodes, policies: [other] })).toEqual([]);
    expect(text(warnings(mine, { nodes, policies: [other] }))).toEqual([
      expect.stringMatching(/ w5\b.*; the other 4 nodes can apply it$/),
    ]);
  });

  it("may need more VFs than the firmware of a Mellanox NIC is set to", () => {
    const nodes = [node("w1", [pf({ vendor: "15b3", deviceID: "101d", totalvfs: 8 })])];
    expect(problems({ numVfs: 128 }, { nodes })).toEqual([]);
    expect(problems({ numVfs: 129 }, { nodes })).toEqual([expect.stringContaining("at most 128")]);
  });

  it("is refused beyond a firmware setting that cannot be changed, with the message of the plan", () => {
    const firmware = { unavailable: "mstconfig is not installed" };
    const mellanox = pf({ vendor: "15b3", deviceID: "101d", totalvfs: 8, firmware });
    const nodes = [node("w1", [mellanox])];
    expect(problems({ numVfs: 8 }, { nodes })).toEqual([]);
    const [problem = ""] = problems({ numVfs: 9 }, { nodes });
    expect(problem).toContain("mstconfig is not installed");
    const [planned] = plan(
      { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 9 }] },
      { interfaces: [mellanox] },
      new Map(),
    ).problems;
    expect(problem).toBe(`spec.numVfs: ${planned?.message ?? ""} on w1`);
  });

  it("requires Mellanox or virtio NICs for vDPA", () => {
    const spec = { vdpaType: "virtio", eSwitchMode: "switchdev" } as const;
    expect(problems(spec, oneNode)).toEqual([
      "spec.vdpaType: requires Mellanox or virtio NICs; 0000:3b:00.0 (8086:158b) on w1 is of another vendor",
    ]);
    expect(fields(spec, { nodes: [node("w1", [pf({ vendor: "15b3", deviceID: "101d" })])] })).toEqual([]);
  });

  it("warns about vfio-pci on NVIDIA cards, with which DPDK does not work", () => {
    const message =
      'spec.deviceType: on the NVIDIA cards of w1, "vfio-pci" is for virtual machines: DPDK needs "netdevice" with spec.isRdma true';
    const nodes = [node("w1", [pf({ vendor: "15b3", deviceID: "101d" })]), node("w2", [pf()])];
    const answered = (deviceType: "vfio-pci" | "netdevice", on: typeof nodes) =>
      admit(
        create(policy("new", { deviceType, nicSelector: { rootDevices: ["0000:3b:00.0"] } })),
        view({ nodes: on }),
        stoppedClock,
      ).warnings;
    expect(answered("vfio-pci", nodes)).toContain(message);
    expect(answered("netdevice", nodes)).not.toContain(message);
    expect(answered("vfio-pci", nodes.slice(1)).join()).not.toContain("NVIDIA");
  });

  it("requires switchdev mode for vDPA, unless it selects virtio NICs", () => {
    const spec = { vdpaType: "virtio", nicSelector: { vendor: "1af4" } } as const;
    expect(fields(spec, { nodes: [node("w1", [pf({ vendor: "1af4", deviceID: "1041" })])] })).toEqual([]);
    expect(problems({ ...spec, nicSelector: { vendor: "15b3" } }, {})).toEqual([
      'spec.vdpaType: requires spec.eSwitchMode "switchdev", or for virtio NICs spec.nicSelector.vendor "1af4"',
    ]);
  });

  it("requires the settings that an externally managed PF already has (sriov-operator.md M-34)", () => {
    const spec = { externallyManaged: true, numVfs: 5, mtu: 9000, linkType: "ib", eSwitchMode: "legacy" } as const;
    const nodes = [node("w1", [pf({ numVfs: 4, eSwitchMode: "switchdev" })])];
    expect(problems(spec, { nodes })).toEqual([
      "spec.numVfs: 5 is higher than the virtual functions allocated for the PF externally; create them first: 0000:3b:00.0 has 4 on w1",
      "spec.mtu: MTU 9000 requested, but 0000:3b:00.0 is externally managed and has MTU 1500 on w1",
      'spec.linkType: "ib" requested, but 0000:3b:00.0 is externally managed and has link type ETH on w1',
      'spec.eSwitchMode: "legacy" requested, but 0000:3b:00.0 is externally managed and in switchdev mode on w1',
    ]);
  });

  it("is admitted with a warning if a node of several has no VFs of an externally managed PF yet", () => {
    const spec = { externallyManaged: true, numVfs: 4 } as const;
    const nodes = [node("w1", [pf({ numVfs: 4 })]), node("w2", [pf({ numVfs: 0 })])];
    const text =
      "spec.numVfs: 0000:3b:00.0 is externally managed and without VFs so far: " +
      "the node fails until another tool creates 4 on w2";
    expect(warnings(spec, { nodes })).toContain(text);
    expect(fields(spec, { nodes: [node("w1", [pf({ numVfs: 4 })]), node("w2", [pf({ numVfs: 3 })])] })).toEqual([
      "spec.numVfs",
    ]);
    expect(fields(spec, { nodes: [node("w2", [pf({ numVfs: 0 })])] })).toEqual(["spec.numVfs"]);
  });

  it("can be changed so that an existing violation becomes smaller, on some or all of its nodes, but not larger", () => {
    const nodes = [
      node("w1", [pf({ totalvfs: 4 })], { labels: { rack: "1" } }),
      node("w2", [pf({ totalvfs: 4 })]),
      node("w3", [pf({ totalvfs: 64 })]),
    ];
    const change = (from: Partial<SriovNetworkNodePolicySpec>, to: Partial<SriovNetworkNodePolicySpec>) =>
      admit(update(policy("p1", from), policy("p1", to)), view({ nodes }), stoppedClock);
    const smaller = change({ numVfs: 9 }, { numVfs: 8 });
    expect([smaller.allowed, smaller.warnings[0]]).toEqual([
      true,
      "spec.numVfs: 8 VFs requested, but 0000:3b:00.0 supports at most 4 on w1, w2",
    ]);
    expect(change({ numVfs: 9 }, { numVfs: 10 }).allowed).toBe(false);
    const rack = { nodeSelector: { rack: "1" } };
    expect(change({ numVfs: 9 }, { numVfs: 9, ...rack }).allowed).toBe(true);
    expect(change({ numVfs: 9, ...rack }, { numVfs: 9 }).allowed).toBe(false); // w2 is new
    expect(change({ mtu: 9900 }, { mtu: 9800 }).allowed).toBe(true);
    const range = (last: number, numVfs: number) => ({ numVfs, nicSelector: { pfNames: [`ens1f0#0-${last}`] } });
    expect([change(range(9, 4), range(6, 4)).allowed, change(range(6, 4), range(9, 4)).allowed]).toEqual([true, false]);
  });

  it("is told that a PF keeps its MTU when the policy's mtu is lowered, but not at other changes", () => {
    const nodes = [node("w1", [pf({ mtu: 9000 })]), node("w2", [pf({ mtu: 9000 })]), node("w3", [pf({ mtu: 1500 })])];
    const change = (from: Partial<SriovNetworkNodePolicySpec>, to: Partial<SriovNetworkNodePolicySpec>) =>
      admit(update(policy("p1", from), policy("p1", to)), view({ nodes }), stoppedClock).warnings.filter((line) =>
        line.includes("keeps MTU"),
      );
    const text = "spec.mtu: a lower value changes the VFs only: PF 0000:3b:00.0 keeps MTU 9000 on w1, w2";
    expect(change({ mtu: 9000 }, { mtu: 1500 })).toEqual([text]);
    expect(change({ mtu: 9000 }, {})).toEqual([text]);
    expect(change({ mtu: 1500 }, { mtu: 1500, numVfs: 2 })).toEqual([]);
    expect(change({ mtu: 1500 }, { mtu: 9000 })).toEqual([]);
    expect(change({ mtu: 9000, externallyManaged: true }, { mtu: 1500, externallyManaged: true })).toEqual([]);
  });

  it("compares net filters without blanks, as merging does (sriov-operator.md M-36)", () => {
    const nodes = [node("vm", [pf({ netFilter: "openstack/NetworkID:3f5c" })])];
    expect(problems({ nicSelector: { netFilter: " openstack/NetworkID : 3f5c" } }, { nodes })).toEqual([]);
  });

  it("warns that vDPA devices have no RDMA device", () => {
    const spec = { vdpaType: "vhost", eSwitchMode: "switchdev" } as const;
    expect(warnings({ ...spec, isRdma: true }, {})).toEqual([
      "spec.isRdma: has no effect if spec.vdpaType is set: vDPA devices have no RDMA device",
    ]);
    expect(warnings({ ...spec, isRdma: false }, {})).toEqual([]);
  });

  it("warns if the feature gate for bridges is off", () => {
    const spec = { bridge: { ovs: {} }, eSwitchMode: "switchdev" } as const;
    const gate = operatorConfig({ featureGates: { manageSoftwareBridges: true } });
    expect(warnings(spec, {}).join()).toContain("feature gate manageSoftwareBridges");
    expect(warnings(spec, { operatorConfig: gate })).toEqual([]);
  });
});

describe("an update", () => {
  it("is not refused for an existing violation", () => {
    const old = policy("p1", { numVfs: 65 });
    const { allowed, warnings: lines } = admit(
      update(old, { ...old, spec: { ...old.spec, mtu: 9000 } }),
      view(oneNode),
      stoppedClock,
    );
    expect(allowed).toBe(true);
    expect(lines[0]).toMatch(/^spec.numVfs: 65 VFs .* 64 on w1$/);
  });

  it("is refused for a new violation", () => {
    const old = policy("p1", { numVfs: 65 });
    const worse = admit(update(old, policy("p1", { numVfs: 66 })), view(oneNode), stoppedClock);
    expect(worse.problems.map(({ field }) => field)).toEqual(["spec.numVfs"]);
  });

  it("warns if the PF cannot become a port of a Linux bridge, because the host uses it", () => {
    const gate = operatorConfig({ featureGates: { manageSoftwareBridges: true } });
    const spec = { bridge: { linux: {} }, eSwitchMode: "switchdev" } as const;
    const warningsFor = (hostUse: readonly string[]) => {
      const { state, ...worker } = node("worker-1", [pf({ eSwitchMode: "switchdev", hostUse })]);
      if (state === undefined) throw new Error("a node with PFs has a state");
      const status = { ...state.status, openVSwitch: { hardwareOffload: true } };
      const nodes = [{ ...worker, state: { ...state, status } }];
      return warnings(spec, { nodes, operatorConfig: gate }).join();
    };
    expect(warningsFor(["default route"])).toContain(
      "0000:3b:00.0 cannot become a port of bridge br-0000_3b_00.0, because the host uses it: default route",
    );
    expect(warningsFor([])).toBe("");
    const allowing = { ...spec, bridge: { linux: {}, disconnectedNetworks: ["10.7.0.0/16"] } };
    const nodes = [node("worker-1", [pf({ eSwitchMode: "switchdev" })])];
    expect(warnings(allowing, { nodes, operatorConfig: gate }).join()).toContain(
      'hosts lose their connection to "10.7.0.0/16" if they have an address in it',
    );
  });
});
