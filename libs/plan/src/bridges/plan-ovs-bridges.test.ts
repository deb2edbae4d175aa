// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type {
  InterfaceStatus,
  OvsBridge,
  SriovNetworkNodeStateSpec,
  SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import fc from "fast-check";
import { ownedInStatus } from "../pf/owned-pf.ts";
import { plan } from "../plan.ts";
import { describeProblem } from "../problem.ts";
import { describeStep } from "../steps/step.ts";

const pciAddress = "0000:3b:00.0";
const name = "br-0000_3b_00.0";

function pf(overrides: Partial<InterfaceStatus> = {}): InterfaceStatus {
  return { pciAddress, name: "ens1f0", totalvfs: 8, numVfs: 0, mtu: 1500, eSwitchMode: "switchdev", ...overrides };
}

function wanted(overrides: Partial<OvsBridge> = {}): OvsBridge {
  return { name, uplinks: [{ pciAddress, name: "old-name" }], ...overrides };
}

/** The bridge as it is reported. */
function present(overrides: Partial<OvsBridge> = {}): OvsBridge {
  return { name, uplinks: [{ pciAddress, name: "ens1f0" }], ...overrides };
}

const selected: SriovNetworkNodeStateSpec = { interfaces: [{ pciAddress, eSwitchMode: "switchdev" }] };
const offloading = { hardwareOffload: true };

function planned(spec: SriovNetworkNodeStateSpec, status: SriovNetworkNodeStateStatus) {
  const observed = { interfaces: [pf()], openVSwitch: offloading, ...status };
  const { steps, impact, reasons, problems } = plan(spec, observed, ownedInStatus(observed));
  return {
    steps: steps.map(describeStep),
    impact,
    reasons: reasons.map(({ field, text }) => `${field}: ${text}`),
    problems: problems.map(describeProblem),
  };
}

const withBridge = (bridge = wanted()): SriovNetworkNodeStateSpec => ({ ...selected, bridges: { ovs: [bridge] } });
const nothing = { steps: [], impact: "none", reasons: [], problems: [] };

describe("plan for an Open vSwitch bridge", () => {
  it("creates a missing bridge, without a drain if the PF has no VFs (sriov-operator.md M-46)", () => {
    expect(planned(withBridge(), {})).toEqual({
      ...nothing,
      steps: [`create Open vSwitch bridge ${name} with uplink ${pciAddress}`],
    });
  });

  it("drains to create a bridge that is missing although VFs exist: pods must be attached to it again", () => {
    const spec = { ...withBridge(), interfaces: [{ pciAddress, eSwitchMode: "switchdev", numVfs: 2 }] };
    const result = planned(spec, { interfaces: [pf({ numVfs: 2 })] });
    expect([result.impact, result.reasons]).toEqual([
      "drain",
      [`spec.bridges: ${pciAddress}: creating bridge ${name} requires that pods attach the 2 existing VFs to it again`],
    ]);
  });

  it("creates the bridge after the VFs", () => {
    const spec = { ...withBridge(), interfaces: [{ pciAddress, eSwitchMode: "switchdev", numVfs: 2 }] };
    expect(planned(spec, { interfaces: [pf({ driver: "ice" })] }).steps).toEqual([
      `set sriov_numvfs 0 -> 2 on ${pciAddress}`,
      `create Open vSwitch bridge ${name} with uplink ${pciAddress}`,
    ]);
  });

  it.each([
    { does: "the same bridge", spec: {}, status: {} },
    { does: "another name for the kernel datapath", spec: { bridge: { datapathType: "system" } }, status: {} },
    { does: "empty settings", spec: { bridge: { externalIDs: {}, datapathType: "" } }, status: { bridge: {} } },
    {
      does: "entries in another order",
      spec: { bridge: { otherConfig: { a: "1", b: "2" } } },
      status: { bridge: { otherConfig: { b: "2", a: "1" } } },
    },
  ])("has no steps for $does", ({ spec, status }) => {
    expect(planned(withBridge(wanted(spec)), { bridges: { ovs: [present(status)] } })).toEqual(nothing);
  });

  it.each([
    { what: "an entry with another value", status: { bridge: { otherConfig: { a: "2" } } } },
    { what: "an entry that is no longer wanted", status: { bridge: { otherConfig: { a: "1", b: "2" } } } },
    { what: "an entry that is missing", status: {} },
    { what: "a fail mode", status: { bridge: { otherConfig: { a: "1" }, failMode: "secure" as const } } },
    { what: "a missing uplink", status: { bridge: { otherConfig: { a: "1" } }, uplinks: [] } },
    {
      what: "an uplink with the former name of the PF",
      status: { bridge: { otherConfig: { a: "1" } }, uplinks: [{ pciAddress, name: "eth0" }] },
    },
    {
      what: "an uplink that does not work",
      status: {
        bridge: { otherConfig: { a: "1" } },
        uplinks: [{ pciAddress, name: "ens1f0", error: "No such device" }],
      },
    },
  ])("changes the bridge in place and without a drain to repair $what", ({ status }) => {
    const spec = {
      ...withBridge(wanted({ bridge: { otherConfig: { a: "1" } } })),
      interfaces: [{ pciAddress, eSwitchMode: "switchdev", numVfs: 2 }],
    };
    const result = planned(spec, { interfaces: [pf({ numVfs: 2 })], bridges: { ovs: [present(status)] } });
    expect([result.steps, result.impact]).toEqual([
      [`change Open vSwitch bridge ${name} with uplink ${pciAddress}`],
      "none",
    ]);
  });

  it("drains to change the datapath", () => {
    const spec = {
      ...withBridge(wanted({ bridge: { datapathType: "netdev" } })),
      interfaces: [{ pciAddress, eSwitchMode: "switchdev", numVfs: 1 }],
    };
    const result = planned(spec, { interfaces: [pf({ numVfs: 1 })], bridges: { ovs: [present()] } });
    expect(result.reasons).toEqual([
      `spec.bridges: ${pciAddress}: changing the datapath of bridge ${name} interrupts the existing VF`,
    ]);
  });

  it("requests no smaller MTU than the PF must have, because the two would be changed in turns", () => {
    const uplinks = [{ pciAddress, interface: { mtuRequest: 1500 } }];
    const spec = { bridges: { ovs: [wanted({ uplinks })] }, interfaces: [{ pciAddress, mtu: 9000 }] };
    const observed = {
      interfaces: [pf({ mtu: 9000, eSwitchMode: "legacy" })],
      openVSwitch: offloading,
      bridges: { ovs: [present({ uplinks: [{ pciAddress, name: "ens1f0", interface: { mtuRequest: 9000 } }] })] },
    };
    expect(plan(spec, observed, new Map()).steps).toEqual([]);
  });

  it("removes ports without an interface before VFs are created, because new representors may get their names", () => {
    const spec = { ...withBridge(), interfaces: [{ pciAddress, eSwitchMode: "switchdev", numVfs: 2 }] };
    const bridges = { ovs: [present({ stalePorts: ["ens1f0_0", "ens1f0_1"] })] };
    expect(planned(spec, { bridges, interfaces: [pf({ driver: "ice" })] }).steps).toEqual([
      `remove ports ens1f0_0, ens1f0_1 from Open vSwitch bridge ${name}`,
      `set sriov_numvfs 0 -> 2 on ${pciAddress}`,
    ]);
  });

  it("takes the PF from its bridge while the eswitch mode changes", () => {
    const spec = { ...withBridge(), interfaces: [{ pciAddress, eSwitchMode: "switchdev", numVfs: 1 }] };
    const status = { interfaces: [pf({ eSwitchMode: "legacy", numVfs: 1 })], bridges: { ovs: [present()] } };
    const { steps } = planned(spec, status);
    expect([steps[0], steps.at(-1)]).toEqual([
      `remove ports ens1f0 from Open vSwitch bridge ${name}`,
      `change Open vSwitch bridge ${name} with uplink ${pciAddress}`,
    ]);
    expect(steps).toContain(`set eswitch mode legacy -> switchdev on ${pciAddress}`);
  });

  it("waits with the bridge if the PF cannot get into switchdev mode", () => {
    const spec = { ...withBridge(), interfaces: [{ pciAddress, eSwitchMode: "switchdev", numVfs: 900 }] };
    expect(planned(spec, { interfaces: [pf({ eSwitchMode: "legacy" })] }).steps).toEqual([]);
  });
});

describe("plan for a bridge that is not wanted", () => {
  const owned = { bridges: { ovs: [present()] } };

  it("removes it if the spec has the PF without a bridge, after a drain if it has VFs", () => {
    const spec = { interfaces: [{ pciAddress, eSwitchMode: "switchdev", numVfs: 2 }] };
    expect(planned(spec, { interfaces: [pf({ numVfs: 2 })], ...owned })).toEqual({
      steps: [`remove Open vSwitch bridge ${name} of ${pciAddress}`],
      impact: "drain",
      reasons: [`spec.bridges: ${pciAddress}: removing bridge ${name} disconnects the 2 existing VFs`],
      problems: [],
    });
  });

  it("removes it before the reset of a PF that no policy selects", () => {
    const result = planned({ unselected: [pciAddress] }, { interfaces: [pf({ numVfs: 2, owned: true })], ...owned });
    expect([result.steps[0], result.steps.at(-1)]).toEqual([
      `remove Open vSwitch bridge ${name} of ${pciAddress}`,
      `release ${pciAddress}`,
    ]);
  });

  it("removes it if Switchyard configured only the bridge and no VFs", () => {
    const result = planned({ unselected: [pciAddress] }, owned);
    expect(result.steps).toEqual([`remove Open vSwitch bridge ${name} of ${pciAddress}`]);
  });

  it("removes a bridge without an uplink, which it recognises by its name", () => {
    const result = planned({ unselected: [pciAddress] }, { bridges: { ovs: [present({ uplinks: [] })] } });
    expect(result.steps).toEqual([`remove Open vSwitch bridge ${name} of ${pciAddress}`]);
  });

  it.each([
    { when: "the spec does not mention the PF", spec: {} },
    {
      when: "the PF is unselected, but the bridge is wanted",
      spec: { ...withBridge(), interfaces: [], unselected: [pciAddress] },
    },
  ])("keeps it if $when", ({ spec }) => {
    expect(planned(spec, owned).steps).toEqual([]);
  });

  it("keeps the bridges of other PFs", () => {
    const other = { name: "br-0000_3b_00.1", uplinks: [{ pciAddress: "0000:3b:00.1", name: "ens1f1" }] };
    expect(planned(selected, { bridges: { ovs: [other] } }).steps).toEqual([]);
  });
});

describe("plan for a bridge that cannot be created", () => {
  const field = "spec.bridges.ovs[0]";

  it.each([
    {
      why: "Open vSwitch does not answer",
      status: { openVSwitch: { error: "read bridges on Open vSwitch: ENOTCONN" }, bridges: { ovs: [] } },
      problem: `${field}: the state of bridge ${name} is unknown: read bridges on Open vSwitch: ENOTCONN`,
    },
    {
      why: "ovs-vswitchd does not run",
      status: { openVSwitch: { ...offloading, switchError: "ovs-vswitchd does not run" } },
      problem: `${field}: bridge ${name} forwards no packets: ovs-vswitchd does not run`,
    },
    {
      why: "somebody else has a bridge of this name",
      status: { openVSwitch: { ...offloading, otherBridges: [{ name }] } },
      problem: `${field}: bridge ${name} exists and was not created by Switchyard: remove it, or let it manage the PF`,
    },
    {
      why: "the PF is in a bridge of somebody else",
      status: { openVSwitch: { ...offloading, otherBridges: [{ name: "br-ex", pciAddresses: [pciAddress] }] } },
      problem: `${field}: ${pciAddress} is a port of bridge br-ex, which was not created by Switchyard`,
    },
  ])("reports that $why, and changes nothing", ({ status, problem }) => {
    expect(planned(withBridge(), status)).toEqual({ ...nothing, problems: [problem] });
  });

  it("reports that Open vSwitch does not run on the host of a SmartNIC, and changes nothing", () => {
    const interfaces = [{ pciAddress, eSwitchMode: "switchdev", cardMode: "embedded-cpu" as const }];
    const host = { ...withBridge(), interfaces };
    const { steps, problems } = planned(host, { openVSwitch: {} });
    expect(steps.filter((step) => /vswitch|switchdev/i.test(step))).toEqual([]);
    expect(problems.join()).toContain("in mode embedded-cpu");
  });

  it("reports that the host uses the PF for itself, unless the PF is in the bridge already", () => {
    const interfaces = [pf({ hostUse: ["default route"] })];
    expect(planned(withBridge(), { interfaces })).toEqual({
      ...nothing,
      problems: [
        `${field}: ${pciAddress} cannot become a port of bridge ${name}, because the host uses it: default route`,
      ],
    });
    expect(planned(withBridge(), { interfaces, bridges: { ovs: [present()] } })).toEqual(nothing);
  });

  it("reports a daemon that does not manage software bridges", () => {
    const result = plan(withBridge(), { observedGeneration: 1, interfaces: [pf()] }, new Map());
    expect(result.problems.map(({ field: path, pciAddress }) => [path, pciAddress])).toEqual([
      ["spec.bridges.ovs[0]", pf().pciAddress],
    ]);
  });

  it.each([
    { bridge: wanted({ uplinks: [] }), problem: ".uplinks: a bridge must have exactly one uplink" },
    {
      bridge: wanted({ uplinks: [{ pciAddress: "0000:99:00.0" }] }),
      problem: ".uplinks: 0000:99:00.0 is not a PF of this node",
    },
    {
      bridge: wanted({ name: "br/../../etc" }),
      problem: `: "br/../../etc" cannot be the name of a bridge: it must have at most 15 letters, digits, ".", "_" and "-"`,
    },
    {
      bridge: wanted({ bridge: { externalIDs: { "switchyard.io/owner": "me" } } }),
      problem: `: the key "switchyard.io/owner" of external_ids is reserved for Switchyard`,
    },
    {
      bridge: wanted({ bridge: { otherConfig: { a: "\0" } } }),
      problem: `: "a" cannot be an entry of a column`,
    },
  ])("reports a malformed bridge: $problem", ({ bridge, problem }) => {
    expect(planned(withBridge(bridge), {})).toEqual({ ...nothing, problems: [`${field}${problem}`] });
  });

  it("accepts any text without throwing", () => {
    const texts = fc.dictionary(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }));
    const any = fc.property(fc.string({ unit: "binary" }), texts, (text, map) => {
      const bridge = wanted({ name: text, bridge: { otherConfig: map, externalIDs: map, datapathType: text } });
      const { steps, problems } = planned(withBridge(bridge), {});
      expect(steps.length + problems.length).toBe(1);
    });
    fc.assert(any);
  });
});

describe("plan for hardware offload", () => {
  it("configures it and restarts ovs-vswitchd before the first PF gets into switchdev mode, without a drain", () => {
    const result = planned(selected, { openVSwitch: { hardwareOffload: false } });
    expect([result.steps, result.impact]).toEqual([
      ["set other_config:hw-offload of Open vSwitch", "restart ovs-vswitchd"],
      "none",
    ]);
  });

  it("drains for the restart if VFs in switchdev mode exist", () => {
    const spec = { interfaces: [{ pciAddress, eSwitchMode: "switchdev", numVfs: 2 }] };
    const status = { interfaces: [pf({ numVfs: 2 })], openVSwitch: { hardwareOffload: true, restartNeeded: true } };
    expect(planned(spec, status)).toMatchObject({
      steps: ["restart ovs-vswitchd"],
      reasons: ["spec.interfaces[0].eSwitchMode: restarting ovs-vswitchd for hardware offload interrupts its bridges"],
    });
  });

  it.each([
    { when: "no PF must be in switchdev mode", spec: {}, openVSwitch: { hardwareOffload: false } },
    { when: "the daemon does not manage software bridges", spec: selected, openVSwitch: undefined },
    { when: "Open vSwitch does not answer", spec: selected, openVSwitch: { error: "ENOTCONN" } },
  ])("changes nothing if $when", ({ spec, openVSwitch }) => {
    const status = { interfaces: [pf()], ...(openVSwitch && { openVSwitch }) };
    expect(plan(spec, status, new Map()).steps).toEqual([]);
  });
});
