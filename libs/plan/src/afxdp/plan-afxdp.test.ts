// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AfxdpInterfaceSpec, AfxdpInterfaceStatus, AfxdpSubfunctionStatus } from "@switchyard/api";
import { describeProblem } from "../problem.ts";
import { describeAfxdpStep } from "./afxdp-step.ts";
import { planAfxdp } from "./plan-afxdp.ts";

const pciAddress = "0000:86:00.0";
const card: AfxdpInterfaceStatus = {
  pciAddress,
  name: "ens1f0",
  driver: "mlx5_core",
  mtu: 1500,
  maxMtu: 9978,
  queues: 16,
  maxQueues: 64,
  maxSfs: 64,
  eSwitchMode: "legacy",
  linkAdminState: "up",
};
const ownedCard: AfxdpInterfaceStatus = {
  ...card,
  owned: true,
  eSwitchMode: "switchdev",
  initialMtu: 1500,
  initialQueues: 16,
  initialESwitchMode: "legacy",
};
const want = (spec: Partial<AfxdpInterfaceSpec>): AfxdpInterfaceSpec => ({
  pciAddress,
  mode: "subfunction",
  poolName: "fast",
  ...spec,
});
const sf = (sfNumber: number, more: Partial<AfxdpSubfunctionStatus> = {}): AfxdpSubfunctionStatus => ({
  sfNumber,
  state: "active",
  driver: "mlx5_core.sf",
  name: `sf${sfNumber}`,
  mtu: 1500,
  queues: 8,
  owned: true,
  ...more,
});
const attached = { xdp: { program: { id: 1, owned: true } } };

function planOf(spec: Partial<AfxdpInterfaceSpec> | "unselected", device: AfxdpInterfaceStatus, use?: string) {
  const desired = spec === "unselected" ? { unselected: [pciAddress] } : { interfaces: [want(spec)] };
  const { steps, impact, reasons, problems } = planAfxdp(desired, { interfaces: [device] }, () => use);
  return {
    steps: steps.map(describeAfxdpStep),
    impact,
    reasons: reasons.map(({ field, text }) => `${field}: ${text}`),
    problems: problems.map(describeProblem),
  };
}

/** Returns the subfunction without the fields that are undefined. */
function withoutName({ name: _name, ...one }: AfxdpSubfunctionStatus): AfxdpSubfunctionStatus {
  return one;
}

describe("planAfxdp", () => {
  it("connects representors to the bridge of the policy, and disrupts no pod by that", () => {
    const representor = (name: string, master?: string) => ({
      name,
      linkAdminState: "up",
      mtu: 1500,
      ...(master !== undefined && { master }),
    });
    const subfunctions = [
      sf(0, { representor: representor("r0", "br-0000_3b_00.0") }),
      sf(1, { representor: representor("r1"), held: true }),
    ];
    expect(planOf({ numSfs: 3, bridge: "br-0000_3b_00.0" }, { ...ownedCard, subfunctions })).toEqual({
      steps: [
        "create subfunction 2 of 0000:86:00.0",
        "set mac on subfunction 2 of 0000:86:00.0",
        "activate subfunction 2 of 0000:86:00.0",
        "set representor up of subfunction 2 of 0000:86:00.0",
        "connect representor of subfunction 1 of 0000:86:00.0 to bridge br-0000_3b_00.0",
        "connect representor of subfunction 2 of 0000:86:00.0 to bridge br-0000_3b_00.0",
      ],
      impact: "none",
      reasons: [],
      problems: [],
    });
  });

  it("creates subfunctions in mode switchdev, with lowest numbers that others do not use", () => {
    const device = { ...card, subfunctions: [sf(1, { owned: false })] };
    expect(planOf({ numSfs: 2, mtu: 9000, queues: 4 }, device)).toEqual({
      steps: [
        "set eswitch mode legacy -> switchdev on 0000:86:00.0",
        "set mtu 1500 -> 9000 on 0000:86:00.0",
        "create subfunction 0 of 0000:86:00.0",
        "create subfunction 2 of 0000:86:00.0",
        "set mac on subfunction 0 of 0000:86:00.0",
        "set mac on subfunction 2 of 0000:86:00.0",
        "activate subfunction 0 of 0000:86:00.0",
        "activate subfunction 2 of 0000:86:00.0",
        "set representor up with mtu 9000 of subfunction 0 of 0000:86:00.0",
        "set representor up with mtu 9000 of subfunction 2 of 0000:86:00.0",
        "set mtu 9000 on subfunction 0 of 0000:86:00.0",
        "set mtu 9000 on subfunction 2 of 0000:86:00.0",
        "set queues 4 on subfunction 0 of 0000:86:00.0",
        "set queues 4 on subfunction 2 of 0000:86:00.0",
      ],
      impact: "none",
      reasons: [],
      problems: [],
    });
  });

  it("continues where a daemon was killed: inactive subfunctions, and those on which the driver failed", () => {
    const { name: _name, driver: _driver, ...failed } = sf(1);
    const device = { ...ownedCard, subfunctions: [sf(0, { state: "inactive" }), failed, sf(2)] };
    expect(planOf({ numSfs: 3 }, device).steps).toEqual([
      "deactivate subfunction 1 of 0000:86:00.0",
      "activate subfunction 0 of 0000:86:00.0",
      "activate subfunction 1 of 0000:86:00.0",
      "set representor up of subfunction 0 of 0000:86:00.0",
      "set representor up of subfunction 1 of 0000:86:00.0",
    ]);
  });

  it("gives a subfunction its recorded address again, while no pod has it", () => {
    const [mac, assignedMac] = ["00:00:00:00:00:00", "02:00:00:00:00:01"];
    const stepsFor = (one: AfxdpSubfunctionStatus) =>
      planOf({ numSfs: 1 }, { ...ownedCard, subfunctions: [one] }).steps;
    const repair = [
      "deactivate subfunction 0 of 0000:86:00.0",
      "set mac on subfunction 0 of 0000:86:00.0",
      "activate subfunction 0 of 0000:86:00.0",
      "set representor up of subfunction 0 of 0000:86:00.0",
    ];
    expect(stepsFor(sf(0, { mac, assignedMac }))).toEqual(repair);
    expect(stepsFor(sf(0, { mac, assignedMac, state: "inactive" }))).toEqual(repair.slice(1));
    expect(stepsFor(sf(0, { mac: assignedMac, assignedMac, state: "inactive" }))).toEqual(repair.slice(2));
    for (const one of [sf(0, { mac }), sf(0, { assignedMac }), sf(0, { mac: assignedMac, assignedMac })]) {
      expect(stepsFor(one)).toEqual([]);
    }
    for (const held of [withoutName(sf(0, { mac, assignedMac })), sf(0, { mac, assignedMac, ...attached })]) {
      expect(planOf({ numSfs: 1 }, { ...ownedCard, subfunctions: [held] })).toMatchObject({
        steps: [],
        impact: "none",
      });
    }
  });

  it("configures a primary device, and deletes the subfunctions of its former mode", () => {
    const device: AfxdpInterfaceStatus = { ...ownedCard, linkAdminState: "down", subfunctions: [sf(0)] };
    expect(planOf({ mode: "primary", mtu: 9000, queues: 8 }, device)).toEqual({
      steps: [
        "deactivate subfunction 0 of 0000:86:00.0",
        "delete subfunction 0 of 0000:86:00.0",
        "set mtu 1500 -> 9000 on 0000:86:00.0",
        "set queues 16 -> 8 on 0000:86:00.0",
        "set link up on 0000:86:00.0",
      ],
      impact: "none",
      reasons: [],
      problems: [],
    });
  });

  it("removes first those subfunctions that no pod has", () => {
    const device = { ...ownedCard, subfunctions: [sf(0), withoutName(sf(1)), sf(2, attached)] };
    expect(planOf({ numSfs: 2 }, device)).toMatchObject({
      steps: ["deactivate subfunction 0 of 0000:86:00.0", "delete subfunction 0 of 0000:86:00.0"],
      impact: "none",
    });
    expect(planOf({ numSfs: 1 }, device)).toMatchObject({
      impact: "drain",
      reasons: ["spec.interfaces[0].numSfs: 0000:86:00.0: removing subfunctions takes them away from pods"],
    });
  });

  it.each<{ does: string; spec: Partial<AfxdpInterfaceSpec>; device: AfxdpInterfaceStatus; reason: string }>([
    {
      does: "an MTU of a subfunction in a pod",
      spec: { numSfs: 1, mtu: 9000 },
      device: { ...ownedCard, subfunctions: [withoutName(sf(0))] },
      reason: "spec.interfaces[0].mtu: 0000:86:00.0: changing the MTU to 9000 interrupts a device of a pod",
    },
    {
      does: "the queues of a device whose program the device plugin has attached",
      spec: { mode: "primary", queues: 4 },
      device: { ...ownedCard, ...attached },
      reason:
        "spec.interfaces[0].queues: 0000:86:00.0: changing the number of queues to 4 interrupts a device of a pod",
    },
  ])("needs a drain to change $does", ({ spec, device, reason }) => {
    expect(planOf(spec, device)).toMatchObject({ impact: "drain", reasons: [reason] });
  });

  it.each<{ spec: Partial<AfxdpInterfaceSpec>; device?: Partial<AfxdpInterfaceStatus>; problem: string }>([
    {
      spec: { numSfs: 65 },
      problem: "spec.interfaces[0].numSfs: 65 subfunctions requested, but 0000:86:00.0 supports at most 64",
    },
    {
      spec: { numSfs: 2 },
      device: { maxSfs: 2, subfunctions: [sf(1), sf(9, { owned: false })] },
      problem:
        "spec.interfaces[0].numSfs: 2 subfunctions requested, but 0000:86:00.0 supports at most 2, 1 of which another program created",
    },
    {
      spec: { numSfs: 1 },
      device: { maxSfs: 0 },
      problem:
        "spec.interfaces[0].numSfs: 1 subfunction requested, but 0000:86:00.0 supports none: enable them in its firmware with " +
        '"mlxconfig -d 0000:86:00.0 set PF_BAR2_ENABLE=0 PER_PF_NUM_SF=1 PF_TOTAL_SF=64 PF_SF_BAR_SIZE=10", ' +
        "and switch the machine off and on",
    },
    {
      spec: { mode: "primary", mtu: 9979 },
      problem: "spec.interfaces[0].mtu: MTU 9979 requested, but 0000:86:00.0 supports at most 9978",
    },
    {
      spec: { mode: "primary", queues: 65 },
      problem: "spec.interfaces[0].queues: 65 queues requested, but 0000:86:00.0 supports at most 64",
    },
    {
      spec: { numSfs: 1 },
      device: { usedBy: ["default route", "VFs"] },
      problem: "spec.interfaces[0]: 0000:86:00.0 is not changed: the host uses it: default route, VFs",
    },
    {
      spec: { numSfs: 2, externallyManaged: true },
      device: { usedBy: ["default route"], subfunctions: [sf(0, { owned: false })] },
      problem:
        "spec.interfaces[0].numSfs: 2 subfunctions requested, but 0000:86:00.0, which is externally managed, has 1",
    },
    {
      spec: { numSfs: 1, mtu: 9000, externallyManaged: true },
      device: { subfunctions: [sf(4, { owned: false })] },
      problem:
        "spec.interfaces[0].mtu: MTU 9000 requested, but subfunction 4 of 0000:86:00.0, which is externally managed, has MTU 1500",
    },
    {
      spec: { mode: "primary", queues: 17, externallyManaged: true },
      problem: "spec.interfaces[0].queues: 17 queues requested, but 0000:86:00.0, which is externally managed, has 16",
    },
    {
      spec: { pciAddress: "0000:99:00.0", name: "ens9", numSfs: 1 },
      problem: "spec.interfaces[0].pciAddress: 0000:99:00.0 (ens9) is not a network device of this node",
    },
  ])("changes nothing and reports: $problem", ({ spec, device, problem }) => {
    expect(planOf(spec, { ...card, ...device })).toEqual({
      steps: [],
      impact: "none",
      reasons: [],
      problems: [problem],
    });
  });

  it("does not change a PF of SR-IOV policies, but resets it", () => {
    const device = { ...ownedCard, subfunctions: [sf(0)] };
    const use = "SR-IOV policies select it";
    expect(planOf({ numSfs: 2 }, device, use)).toMatchObject({
      steps: [],
      problems: ["spec.interfaces[0]: 0000:86:00.0 is not changed: SR-IOV policies select it"],
    });
    expect(planOf("unselected", device, use).steps).toContain("release 0000:86:00.0");
  });

  it("resets an unselected device: own subfunctions, mode, MTU and queues", () => {
    const device = { ...ownedCard, mtu: 9000, queues: 4, subfunctions: [sf(0), withoutName(sf(1))] };
    expect(planOf("unselected", device)).toEqual({
      steps: [
        "deactivate subfunction 0 of 0000:86:00.0",
        "deactivate subfunction 1 of 0000:86:00.0",
        "delete subfunction 0 of 0000:86:00.0",
        "delete subfunction 1 of 0000:86:00.0",
        "set eswitch mode switchdev -> legacy on 0000:86:00.0",
        "set mtu 9000 -> 1500 on 0000:86:00.0",
        "set queues 4 -> 16 on 0000:86:00.0",
        "release 0000:86:00.0",
      ],
      impact: "drain",
      reasons: expect.arrayContaining([
        "spec.unselected: 0000:86:00.0: removing subfunctions takes them away from pods",
      ]),
      problems: [],
    });
  });

  it("keeps the mode of an unselected device with subfunctions of other programs", () => {
    const device = { ...ownedCard, subfunctions: [sf(0), sf(7, { owned: false })] };
    expect(planOf("unselected", device).steps).toEqual([
      "deactivate subfunction 0 of 0000:86:00.0",
      "delete subfunction 0 of 0000:86:00.0",
      "release 0000:86:00.0",
    ]);
  });

  it("only releases an externally managed device", () => {
    expect(planOf("unselected", { ...ownedCard, externallyManaged: true, mtu: 9000 }).steps).toEqual([
      "release 0000:86:00.0",
    ]);
  });

  it("does not touch a device that is not owned, and one that is owned but not listed as unselected", () => {
    expect(planOf("unselected", { ...card, mtu: 9000, subfunctions: [sf(0)] }).steps).toEqual([]);
    expect(planAfxdp({}, { interfaces: [{ ...ownedCard, subfunctions: [sf(0)] }] }).steps).toEqual([]);
  });
});
