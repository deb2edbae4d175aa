// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicy, SriovNetworkNodePolicySpec } from "@switchyard/api";
import { mergePolicies } from "./merge-policies.ts";
import { createRules } from "./rules.ts";
import { nics, node, operatorConfig, policy } from "../testing/objects.ts";

const gateOn = operatorConfig({ featureGates: { manageSoftwareBridges: true } });

function merge(policies: readonly SriovNetworkNodePolicy[], config = gateOn) {
  return mergePolicies(node(), nics, createRules({ policies, pools: [], operatorConfig: config }));
}

/** Returns a switchdev policy for ens803f0. */
function switchdev(name: string, spec: Partial<SriovNetworkNodePolicySpec>): SriovNetworkNodePolicy {
  return policy(name, { eSwitchMode: "switchdev", nicSelector: { rootDevices: ["0000:86:00.0"] }, ...spec });
}

const plain = { ovs: {} };
const netdev = {
  ovs: { bridge: { datapathType: "netdev" }, uplink: { interface: { type: "dpdk", options: { "n-rxq": "2" } } } },
};
const bridge0 = { name: "br-0000_86_00.0", uplinks: [{ pciAddress: "0000:86:00.0", name: "ens803f0" }] };
const netdev0 = {
  name: "br-0000_86_00.0",
  bridge: { datapathType: "netdev" },
  uplinks: [{ pciAddress: "0000:86:00.0", name: "ens803f0", interface: { type: "dpdk", options: { "n-rxq": "2" } } }],
};

describe("bridges of a node", () => {
  it("are absent for a policy that selects no NIC (sriov-operator.md B.10)", () => {
    const { spec, problems } = merge([switchdev("p1", { nicSelector: {}, bridge: plain })]);
    expect(spec).toEqual({});
    expect(problems).toMatchObject([{ policyName: "p1", code: "empty-nic-selector" }]);
  });

  it.each<{ does: string; spec: Partial<SriovNetworkNodePolicySpec>; code: string; field: string; value: unknown }>([
    {
      does: "require switchdev (sriov-operator.md B.10)",
      spec: { eSwitchMode: "legacy" },
      code: "bridge-needs-switchdev",
      field: "spec.eSwitchMode",
      value: "legacy",
    },
    {
      does: "require an Ethernet link (sriov-operator.md B.10)",
      spec: { linkType: "ib" },
      code: "bridge-needs-ethernet",
      field: "spec.linkType",
      value: "ib",
    },
    {
      does: "require a PF that is not externally managed (sriov-operator.md B.10)",
      spec: { externallyManaged: true },
      code: "bridge-externally-managed",
      field: "spec.externallyManaged",
      value: true,
    },
  ])("$does; otherwise the policy is not applied", ({ spec, code, field, value }) => {
    const merged = merge([switchdev("p1", { bridge: plain, ...spec })]);
    expect(merged.spec).toEqual({});
    expect(merged.problems).toMatchObject([{ policyName: "p1", code, severity: "error", field, value }]);
    expect(merged.matches).toEqual([{ policyName: "p1", pciAddresses: [] }]);
  });

  it("are refused with the eswitch mode of the policy, which is legacy if it is absent", () => {
    const { eSwitchMode: _mode, ...absent } = switchdev("p1", { bridge: plain }).spec;
    const refusal = (spec: SriovNetworkNodePolicySpec) =>
      merge([{ ...switchdev("p1", {}), spec }]).problems.map(({ message }) => message);
    const rule = 'must be "switchdev" if spec.bridge is set, but is ';
    expect(refusal({ ...absent, eSwitchMode: "legacy" })).toEqual([`${rule}"legacy"`]);
    expect(refusal(absent)).toEqual([`${rule}absent, which means "legacy"`]);
  });

  it("are created one per PF, sorted by name (sriov-operator.md B.10)", () => {
    const nicSelector = { rootDevices: ["0000:86:00.2", "0000:86:00.0"] };
    const { spec } = merge([switchdev("p1", { nicSelector, bridge: netdev })]);
    expect(spec.bridges?.ovs?.map(({ name }) => name)).toEqual(["br-0000_86_00.0", "br-0000_86_00.2"]);
    expect(spec.bridges?.ovs?.[0]).toEqual(netdev0);
  });

  it("are sorted by name for any order of the status", () => {
    const p1 = switchdev("p1", { nicSelector: { vendor: "8086" }, bridge: plain });
    const rules = createRules({ policies: [p1], pools: [], operatorConfig: gateOn });
    const { bridges } = mergePolicies(node(), nics.toReversed(), rules).spec;
    expect(bridges?.ovs?.map(({ name }) => name)).toEqual(["br-0000_86_00.0", "br-0000_86_00.1", "br-0000_86_00.2"]);
  });

  it("are those of the policy of higher priority (sriov-operator.md B.10)", () => {
    const policies = [switchdev("weak", { bridge: plain }), switchdev("strong", { priority: 1, bridge: netdev })];
    expect(merge(policies).spec.bridges).toEqual({ ovs: [netdev0] });
  });

  it("are dropped if the policy of higher priority has none (sriov-operator.md B.10)", () => {
    const policies = [switchdev("weak", { bridge: plain }), switchdev("strong", { priority: 1 })];
    expect(merge(policies).spec.bridges).toBeUndefined();
  });

  it("are dropped if the policy of higher priority has none, even if it has 0 VFs", () => {
    const policies = [switchdev("weak", { bridge: plain }), switchdev("strong", { priority: 1, numVfs: 0 })];
    const { spec } = merge(policies);
    expect(spec.bridges).toBeUndefined();
    expect(spec.interfaces).toHaveLength(1);
  });

  it("are kept if the policy of higher priority selects another PF (sriov-operator.md B.10)", () => {
    const other = { nicSelector: { rootDevices: ["0000:86:00.1"] }, priority: 1 };
    expect(merge([switchdev("p1", { bridge: plain }), switchdev("p2", other)]).spec.bridges).toEqual({
      ovs: [bridge0],
    });
  });

  it("are created for a policy with 0 VFs", () => {
    expect(merge([switchdev("p1", { numVfs: 0, bridge: plain })]).spec).toEqual({ bridges: { ovs: [bridge0] } });
  });

  it("are requested by an empty ovs, but not by an empty bridge (sriov-operator.md M-39)", () => {
    expect(merge([switchdev("p1", { bridge: { ovs: {} } })]).spec.bridges).toEqual({ ovs: [bridge0] });
    expect(merge([switchdev("p1", { bridge: {} })]).spec.bridges).toBeUndefined();
  });

  it("do not restrict the eswitch mode if none is requested", () => {
    expect(merge([switchdev("p1", { bridge: {}, eSwitchMode: "legacy" })]).problems).toEqual([]);
  });

  it("omit empty settings (sriov-operator.md M-39)", () => {
    const empty = { ovs: { bridge: { datapathType: "", externalIDs: {} }, uplink: { interface: { options: {} } } } };
    expect(merge([switchdev("p1", { bridge: empty })]).spec.bridges).toEqual({ ovs: [bridge0] });
  });

  it("copy every setting", () => {
    const bridge = {
      datapathType: "netdev",
      externalIDs: { a: "1" },
      otherConfig: { b: "2" },
      failMode: "secure",
    } as const;
    const port = {
      type: "dpdk",
      options: { c: "3" },
      externalIDs: { d: "4" },
      otherConfig: { e: "5" },
      mtuRequest: 1600,
    };
    const { spec } = merge([switchdev("p1", { bridge: { ovs: { bridge, uplink: { interface: port } } } })]);
    expect(spec.bridges?.ovs).toEqual([
      { ...bridge0, bridge, uplinks: [{ pciAddress: "0000:86:00.0", name: "ens803f0", interface: port }] },
    ]);
  });

  it("prefer the policy's MTU to the port's", () => {
    const ovs = { uplink: { interface: { mtuRequest: 1600 } } };
    const { spec } = merge([switchdev("p1", { mtu: 9000, bridge: { ovs } })]);
    expect(spec.bridges?.ovs?.[0]?.uplinks?.[0]?.interface).toEqual({ mtuRequest: 9000 });
  });

  it("are absent while the feature gate is off; the policy's VFs are created, with a warning", () => {
    const merged = merge([switchdev("p1", { eSwitchMode: "legacy", bridge: plain })], operatorConfig({}));
    expect(merged.spec.bridges).toBeUndefined();
    expect(merged.spec.interfaces).toHaveLength(1);
    expect(merged.problems).toMatchObject([{ code: "bridges-disabled", severity: "warning", field: "spec.bridge" }]);
  });
});

describe("Linux bridges of a node", () => {
  const linux0 = { name: "br-0000_86_00.0", uplinks: [{ pciAddress: "0000:86:00.0", name: "ens803f0" }] };

  it("are created one per PF, sorted by name, with all settings", () => {
    const linux = { bridge: { vlanFiltering: true, vlanProtocol: "802.1ad" }, uplink: { learning: "0" } } as const;
    const nicSelector = { rootDevices: ["0000:86:00.2", "0000:86:00.0"] };
    expect(merge([switchdev("p1", { nicSelector, bridge: { linux } })]).spec.bridges).toEqual({
      linux: [
        { ...linux0, bridge: linux.bridge, uplinks: [{ ...linux0.uplinks[0], uplink: linux.uplink }] },
        {
          name: "br-0000_86_00.2",
          bridge: linux.bridge,
          uplinks: [{ pciAddress: "0000:86:00.2", name: "ens803f2", uplink: linux.uplink }],
        },
      ],
    });
  });

  it("have the defaults if linux is empty", () => {
    const empty = { linux: { bridge: { vlanFiltering: false }, uplink: {} } };
    for (const bridge of [{ linux: {} }, empty]) {
      expect(merge([switchdev("p1", { bridge })]).spec.bridges).toEqual({ linux: [linux0] });
    }
  });

  it("replace the Open vSwitch bridge of a policy of lower priority, and exist beside those of other PFs", () => {
    const other = { nicSelector: { rootDevices: ["0000:86:00.1"] } };
    const { bridges } = merge([
      switchdev("weak", { bridge: plain }),
      switchdev("strong", { priority: 1, bridge: { linux: {} } }),
      switchdev("other", { ...other, bridge: plain }),
    ]).spec;
    expect(bridges).toMatchObject({ linux: [linux0], ovs: [{ name: "br-0000_86_00.1" }] });
    expect(bridges?.ovs).toHaveLength(1);
  });

  it.each([
    { spec: { eSwitchMode: "legacy" }, code: "bridge-needs-switchdev" },
    { spec: { linkType: "IB" }, code: "bridge-needs-ethernet" },
    { spec: { externallyManaged: true }, code: "bridge-externally-managed" },
    { spec: { bridge: { linux: {}, ovs: {} } }, code: "two-bridges" },
  ] as const)("make the policy unusable if it has $spec", ({ spec, code }) => {
    const merged = merge([switchdev("p1", { bridge: { linux: {} }, ...spec })]);
    expect(merged.spec).toEqual({});
    expect(merged.problems).toMatchObject([{ code, severity: "error" }]);
  });

  it("are not created while the feature gate is off", () => {
    const merged = merge([switchdev("p1", { bridge: { linux: {} } })], operatorConfig({}));
    expect(merged.spec.bridges).toBeUndefined();
    expect(merged.problems).toMatchObject([{ code: "bridges-disabled", severity: "warning" }]);
  });

  it("are not created for a PF whose address makes the name too long, and the VFs are", () => {
    const far = { ...nics[0], pciAddress: "10000:86:00.0" } as const;
    const rules = createRules({
      policies: [switchdev("p1", { nicSelector: { vendor: "8086" }, bridge: { linux: {} } })],
      pools: [],
      operatorConfig: gateOn,
    });
    const { spec, problems } = mergePolicies(node(), [far], rules);
    expect(spec).toMatchObject({ interfaces: [{ pciAddress: "10000:86:00.0", numVfs: 2 }] });
    expect(spec.bridges).toBeUndefined();
    expect(problems).toMatchObject([{ code: "bridge-name-too-long", severity: "warning", field: "spec.bridge.linux" }]);
    expect(problems[0]?.message).toContain("10000:86:00.0");
  });
});

describe("policies that disagree on externallyManaged", () => {
  const own = (name: string, range: string, priority: number, externallyManaged: boolean) =>
    policy(name, { nicSelector: { pfNames: [`ens803f0#${range}`] }, numVfs: 8, priority, externallyManaged });

  it.each([true, false])("leave the one of higher priority, with externallyManaged %s, on the PF", (isExternal) => {
    const strong = own("strong", "0-3", 1, isExternal);
    const { spec, problems, matches } = merge([strong, own("weak", "4-7", 99, !isExternal)]);
    expect(spec).toEqual(merge([strong]).spec);
    expect(problems).toMatchObject([
      { policyName: "weak", code: "externally-managed-differs", severity: "error", field: "spec.externallyManaged" },
    ]);
    expect(problems[0]?.message).toContain(`must be ${isExternal}, as in policy strong`);
    expect(matches).toContainEqual({ policyName: "weak", pciAddresses: [] });
  });

  it("are both applied on PFs that they do not share", () => {
    const strong = policy("strong", { nicSelector: { rootDevices: ["0000:86:00.1"] }, externallyManaged: true });
    const weak = policy("weak", { nicSelector: { vendor: "8086" }, priority: 100 });
    const { spec, problems } = merge([strong, weak]);
    expect(spec.interfaces).toHaveLength(3);
    expect(problems).toMatchObject([{ policyName: "weak", code: "externally-managed-differs" }]);
  });
});
