// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, InterfaceStatus, VfGroup, VfStatus } from "@switchyard/api";
import fc from "fast-check";
import { describeProblem } from "./problem.ts";
import { ownedInStatus, type OwnedPf } from "./pf/owned-pf.ts";
import { isConverged, plan } from "./plan.ts";
import { describeStep } from "./steps/step.ts";

const pci = "0000:3b:00.0";

/** A PF as a node reports it: link up, MTU 1500, no VFs, at most 8 VFs. */
function pfStatus(overrides: Partial<InterfaceStatus> = {}): InterfaceStatus {
  return {
    pciAddress: pci,
    name: "ens1f0",
    mac: "02:00:00:00:00:01",
    mtu: 1500,
    maxMtu: 9216,
    linkType: "ETH",
    linkAdminState: "up",
    eSwitchMode: "legacy",
    totalvfs: 8,
    numVfs: 0,
    ...overrides,
  };
}

/** VFs 0 to count-1: bound to a driver, with an administrative address, MTU 1500. */
function vfs(count: number, overrides: Partial<VfStatus> = {}): readonly VfStatus[] {
  return Array.from({ length: count }, (_, vfID) => ({
    pciAddress: `0000:3b:02.${vfID}`,
    vfID,
    name: `ens1f0v${vfID}`,
    mac: `02:00:00:00:01:0${vfID}`,
    adminMac: `02:00:00:00:01:0${vfID}`,
    mtu: 1500,
    driver: "iavf",
    ...overrides,
  }));
}

function pfSpec(overrides: Partial<InterfaceSpec> = {}): InterfaceSpec {
  return {
    pciAddress: pci,
    name: "ens1f0",
    numVfs: 2,
    vfGroups: [{ resourceName: "r", vfRange: "0-1" }],
    ...overrides,
  };
}

function planned(
  spec: InterfaceSpec | undefined,
  status: InterfaceStatus,
  owned: readonly [string, OwnedPf][] = [],
  unselected: readonly string[] = [],
) {
  const desired = { interfaces: spec === undefined ? [] : [spec], unselected };
  const result = plan(desired, { interfaces: [status] }, new Map(owned));
  return {
    steps: result.steps.map(describeStep),
    impact: result.impact,
    problems: result.problems.map(describeProblem),
    reasons: result.reasons.map(({ field, text }) => `${field}: ${text}`),
  };
}

describe("plan", () => {
  it("has no steps if the node matches its spec", () => {
    const observed = { interfaces: [pfStatus({ numVfs: 2, Vfs: vfs(2) })] };
    expect(isConverged(plan({ interfaces: [pfSpec()] }, observed, new Map()))).toBe(true);
  });

  it("creates the first VFs of a PF without a drain", () => {
    expect(planned(pfSpec(), pfStatus())).toEqual({
      steps: [
        `set sriov_numvfs 0 -> 2 on ${pci}`,
        `set administrative MAC address of VF 0 of ${pci}`,
        `set administrative MAC address of VF 1 of ${pci}`,
      ],
      impact: "none",
      problems: [],
      reasons: [],
    });
  });

  it("raises the MTU and sets the link up before it creates VFs, and sets the MTU of the VFs afterwards", () => {
    const spec = pfSpec({ mtu: 9000, numVfs: 1, vfGroups: [{ resourceName: "r", vfRange: "0-0", mtu: 9000 }] });
    expect(planned(spec, pfStatus({ linkAdminState: "down" })).steps).toEqual([
      `set mtu 1500 -> 9000 on ${pci}`,
      `set link up on ${pci}`,
      `set sriov_numvfs 0 -> 1 on ${pci}`,
      `set administrative MAC address of VF 0 of ${pci}`,
      `set mtu 9000 on VF 0 of ${pci}`,
    ]);
  });

  it("never lowers the MTU of a PF", () => {
    expect(planned(pfSpec({ mtu: 1400 }), pfStatus({ numVfs: 2, Vfs: vfs(2) })).steps).toEqual([]);
  });

  it("drains to change the number of VFs, and says why", () => {
    const result = planned(pfSpec({ numVfs: 4 }), pfStatus({ numVfs: 2, Vfs: vfs(2) }));
    expect(result.steps[0]).toBe(`set sriov_numvfs 2 -> 4 on ${pci}`);
    expect(result.impact).toBe("drain");
    expect(result.reasons).toEqual([
      `spec.interfaces[0].numVfs: ${pci}: changing numVfs from 2 to 4 removes the 2 existing VFs`,
    ]);
  });

  it.each([
    { does: "lower the number of VFs", from: 8, to: 2 },
    { does: "remove all VFs", from: 8, to: 0 },
  ])("drains, and does not reboot, to $does of a Mellanox card (sriov-operator.md M-47)", ({ from, to }) => {
    const mellanox = { vendor: "15b3", deviceID: "1017", driver: "mlx5_core" };
    const spec = pfSpec({ numVfs: to, vfGroups: [] });
    const result = planned(spec, pfStatus({ ...mellanox, numVfs: from, Vfs: vfs(from) }));
    expect([result.steps, result.impact]).toEqual([[`set sriov_numvfs ${from} -> ${to} on ${pci}`], "drain"]);
  });

  it("loads vfio-pci and binds the VFs of a user-space group only", () => {
    const vfGroups = [
      { resourceName: "kernel", vfRange: "0-0" },
      { resourceName: "user", vfRange: "1-1", deviceType: "vfio-pci" as const },
    ];
    const result = planned(pfSpec({ vfGroups }), pfStatus({ numVfs: 2, Vfs: vfs(2) }));
    expect(result.steps).toEqual(["load kernel module vfio-pci", `bind VF 1 of ${pci} to vfio-pci (from iavf)`]);
    expect(result.impact).toBe("drain");
  });

  it("binds VFs of a user-space driver to their kernel driver, then sets their address and MTU", () => {
    const spec = pfSpec({ numVfs: 1, vfGroups: [{ resourceName: "r", vfRange: "0-0", mtu: 2000 }] });
    const status = pfStatus({ numVfs: 1, Vfs: [{ pciAddress: "0000:3b:02.0", vfID: 0, driver: "vfio-pci" }] });
    expect(planned(spec, status).steps).toEqual([
      `bind VF 0 of ${pci} to its kernel driver (from vfio-pci)`,
      `set administrative MAC address of VF 0 of ${pci}`,
      `set mtu 2000 on VF 0 of ${pci}`,
    ]);
  });

  it("binds a VF that has no driver without a drain, because no pod can use it", () => {
    const [first, second] = vfs(2);
    const status = pfStatus({
      numVfs: 2,
      Vfs: [{ pciAddress: "0000:3b:02.0", vfID: 0, driver: "" }, second ?? first].flatMap((vf) => vf ?? []),
    });
    const result = planned(pfSpec(), status);
    expect(result.steps).toEqual([
      `bind VF 0 of ${pci} to its kernel driver`,
      `set administrative MAC address of VF 0 of ${pci}`,
    ]);
    expect(result.impact).toBe("none");
  });

  it.each([
    {
      lacks: "address",
      overrides: { adminMac: "00:00:00:00:00:00" },
      step: `set administrative MAC address of VF 0 of ${pci}`,
    },
    { lacks: "MTU", overrides: { mtu: 1500 }, step: `set mtu 1500 -> 9000 on VF 0 of ${pci}` },
  ])(
    "plans a step for a VF that has the right driver but the wrong $lacks (sriov-operator.md M-30)",
    ({ overrides, step }) => {
      const spec = pfSpec({ mtu: 9000, numVfs: 1, vfGroups: [{ resourceName: "r", vfRange: "0-0", mtu: 9000 }] });
      const status = pfStatus({ mtu: 9000, numVfs: 1, Vfs: vfs(1, { mtu: 9000, ...overrides }) });
      expect(planned(spec, status).steps).toEqual([step]);
    },
  );

  it("does not change a VF whose administrative address is unknown, because upstream's daemon does not report it", () => {
    const Vfs = vfs(2).map(({ adminMac: _, ...vf }) => vf);
    const spec = pfSpec({ vfGroups: [{ resourceName: "r", vfRange: "0-1", isRdma: true }] });
    expect(planned(spec, pfStatus({ numVfs: 2, Vfs }))).toMatchObject({ steps: [], impact: "none" });
  });

  it("does not change a VF that is in a pod", () => {
    const inPod = { pciAddress: "0000:3b:02.0", vfID: 0, driver: "iavf" };
    const spec = pfSpec({ numVfs: 1, vfGroups: [{ resourceName: "r", vfRange: "0-0", mtu: 9000 }] });
    expect(planned(spec, pfStatus({ numVfs: 1, Vfs: [inPod] })).steps).toEqual([]);
  });

  it.each([
    {
      does: "more VFs than the PF supports",
      spec: { numVfs: 9 },
      status: {},
      problem: `spec.interfaces[0].numVfs: 9 VFs requested, but ${pci} supports at most 8`,
    },
    {
      does: "VFs of a PF without SR-IOV",
      spec: {},
      status: { totalvfs: undefined },
      problem: `spec.interfaces[0].numVfs: 2 VFs requested, but ${pci} has no SR-IOV capability`,
    },
    {
      does: "more VFs than a Mellanox card's firmware can be set to",
      spec: { numVfs: 129 },
      status: { vendor: "15b3" },
      problem:
        `spec.interfaces[0].numVfs: 129 VFs requested, but ${pci} supports at most 8, ` +
        "and its firmware is set to at most 128",
    },
    {
      does: "VFs of a Mellanox card with disabled SR-IOV and a firmware that cannot be changed",
      spec: {},
      status: { vendor: "15b3", totalvfs: undefined, firmware: { unavailable: "mstconfig is not installed" } },
      problem:
        `spec.interfaces[0].numVfs: 2 VFs requested, but ${pci} has no SR-IOV capability, ` +
        "and its firmware settings cannot be changed: mstconfig is not installed",
    },
    {
      does: "an unknown eswitch mode",
      spec: { eSwitchMode: "switchdev\n" },
      status: {},
      problem:
        'spec.interfaces[0].eSwitchMode: "switchdev\\n" is not supported; supported values are "legacy" and "switchdev"',
    },
  ])("refuses $does, and plans no steps for that PF", ({ spec, status, problem }) => {
    const { totalvfs, ...rest } = { ...pfStatus({ numVfs: 1, Vfs: vfs(1) }), ...status };
    const result = planned(pfSpec(spec), totalvfs === undefined ? rest : { ...rest, totalvfs });
    expect(result.problems).toEqual([problem]);
    expect(result.steps).toEqual([]);
  });

  it("refuses an MTU above the maximum of the device, and plans all other steps (sriov-operator.md M-32)", () => {
    const result = planned(pfSpec({ mtu: 9300, vfGroups: [{ vfRange: "0-1", mtu: 9300 }] }), pfStatus());
    expect(result.problems).toEqual([`spec.interfaces[0].mtu: MTU 9300 requested, but ${pci} supports at most 9216`]);
    expect(result.steps.map((step) => step.replace(/VF \d/, "VF n"))).toEqual([
      `set sriov_numvfs 0 -> 2 on ${pci}`,
      `set administrative MAC address of VF n of ${pci}`,
      `set administrative MAC address of VF n of ${pci}`,
    ]);
  });

  it("refuses one group and plans the others", () => {
    const vfGroups = [{ vfRange: "eno1#0-1" }, { vfRange: "1-1" }, { vfRange: "1-7" }];
    const result = planned(pfSpec({ vfGroups }), pfStatus());
    expect(result.problems).toEqual([
      'spec.interfaces[0].vfGroups[0].vfRange: "eno1#0-1" is not a range of VFs; a valid range is "0-3"',
      `spec.interfaces[0].vfGroups[2].vfRange: "1-7" is outside the 2 VFs of ${pci}`,
    ]);
    expect(result.steps).toContain(`set administrative MAC address of VF 1 of ${pci}`);
  });

  it.each(["../../x", "a b", "\n", "", "netdevice ", "uio_pci_generic", "x".repeat(1_000_000)])(
    "refuses a group with an unsupported deviceType, and plans the other groups, case %#",
    (deviceType) => {
      // An object that was stored before the CRD had the enum can have this value.
      const stored = JSON.parse(JSON.stringify({ resourceName: "user", vfRange: "1-1", deviceType })) as VfGroup;
      const spec = pfSpec({ vfGroups: [{ resourceName: "kernel", vfRange: "0-0" }, stored] });
      for (const status of [pfStatus(), pfStatus({ numVfs: 2, Vfs: vfs(2, { driver: "vfio-pci" }) })]) {
        const { steps, problems } = planned(spec, status);
        expect(steps.filter((step) => step.includes("VF 1") || step.includes("module"))).toEqual([]);
        expect(steps.filter((step) => step.includes("VF 0"))).not.toEqual([]);
        expect(problems).toEqual([
          `spec.interfaces[0].vfGroups[1].deviceType: ${JSON.stringify(deviceType.slice(0, 64))} is not supported; ` +
            'supported values are "netdevice" and "vfio-pci"',
        ]);
      }
    },
  );

  it("reports a PF that the node does not have, and plans the others", () => {
    const other = pfSpec({ pciAddress: "0000:5e:00.0", name: "ens9" });
    const result = plan({ interfaces: [other, pfSpec()] }, { interfaces: [pfStatus()] }, new Map());
    expect(result.problems.map(describeProblem)).toEqual([
      "spec.interfaces[0].pciAddress: 0000:5e:00.0 (ens9) is not a PF of this node",
    ]);
    expect(result.steps).not.toEqual([]);
  });

  it("configures the VFs of an externally managed PF and nothing else on it", () => {
    const spec = pfSpec({
      externallyManaged: true,
      numVfs: 1,
      mtu: 1500,
      vfGroups: [{ vfRange: "0-0", deviceType: "vfio-pci" }],
    });
    const status = pfStatus({ numVfs: 4, Vfs: vfs(4), linkAdminState: "down" });
    expect(planned(spec, status).steps).toEqual([
      "load kernel module vfio-pci",
      `bind VF 0 of ${pci} to vfio-pci (from iavf)`,
    ]);
  });

  it("has no steps for an externally managed PF whose VFs match the spec (sriov-operator.md M-3)", () => {
    const spec = pfSpec({ externallyManaged: true, vfGroups: [{ vfRange: "0-1", deviceType: "netdevice" }] });
    expect(planned(spec, pfStatus({ numVfs: 4, Vfs: vfs(4) }))).toMatchObject({ steps: [], impact: "none" });
  });

  it.each([
    { asked: { numVfs: 5 }, problem: `numVfs: 5 VFs requested, but ${pci} is externally managed and has 4` },
    { asked: { mtu: 9000 }, problem: `mtu: MTU 9000 requested, but ${pci} is externally managed and has MTU 1500` },
    {
      asked: { linkType: "ib" },
      problem: `linkType: "ib" requested, but ${pci} is externally managed and has link type ETH`,
    },
    {
      asked: { eSwitchMode: "switchdev" },
      problem: `eSwitchMode: "switchdev" requested, but ${pci} is externally managed and in legacy mode`,
    },
  ])("refuses values that an externally managed PF does not have: $problem", ({ asked, problem }) => {
    const spec = pfSpec({ externallyManaged: true, ...asked });
    const { steps, problems } = planned(spec, pfStatus({ numVfs: 4, Vfs: vfs(4) }));
    expect({ steps, problems }).toEqual({ steps: [], problems: [`spec.interfaces[0].${problem}`] });
  });

  it("reports all values that an externally managed PF does not have, and accepts link types in either case", () => {
    const spec = pfSpec({ externallyManaged: true, numVfs: 5, eSwitchMode: "switchdev", linkType: "eth" });
    const { problems } = planned(spec, pfStatus({ numVfs: 4, Vfs: vfs(4) }));
    expect(problems.map((problem) => problem.split(":")[0])).toEqual([
      "spec.interfaces[0].eSwitchMode",
      "spec.interfaces[0].numVfs",
    ]);
  });

  it("plans no change of an externally managed PF itself, whatever its state and its spec are", () => {
    const state = fc.record({
      numVfs: fc.nat(8),
      mtu: fc.integer({ min: 68, max: 9216 }),
      eSwitchMode: fc.constantFrom("legacy", "switchdev"),
      linkAdminState: fc.constantFrom("up", "down"),
    });
    const request = fc.record({
      numVfs: fc.nat(8),
      mtu: fc.nat(9216),
      eSwitchMode: fc.constantFrom("", "legacy", "switchdev"),
      last: fc.nat(7),
    });
    fc.assert(
      fc.property(state, request, fc.boolean(), (status, { last, ...asked }, isSelected) => {
        const vfGroups = [{ vfRange: `0-${last}`, mtu: asked.mtu }];
        const spec = pfSpec({ externallyManaged: true, ...asked, vfGroups });
        const pf = pfStatus({ ...status, Vfs: vfs(status.numVfs, { driver: "vfio-pci" }) });
        const owned = [[pci, { externallyManaged: true }]] as const;
        const { steps } = isSelected ? planned(spec, pf) : planned(undefined, pf, [[...owned[0]]], [pci]);
        for (const step of steps) expect(step).toMatch(isSelected ? /VF \d+ of/ : /^release /);
      }),
    );
  });

  it("rebinds an RDMA VF after its address is set", () => {
    const spec = pfSpec({ numVfs: 1, vfGroups: [{ vfRange: "0-0", isRdma: true }] });
    const result = plan({ interfaces: [spec] }, { interfaces: [pfStatus()] }, new Map());
    expect(result.steps).toContainEqual({ kind: "set-vf-mac", pciAddress: pci, vfId: 0, rebind: true });
  });
});

describe("plan for a PF that no policy selects any more", () => {
  const configured = pfStatus({ numVfs: 2, Vfs: vfs(2), mtu: 9000 });

  it("has no steps if Switchyard did not configure the PF", () => {
    expect(planned(undefined, configured).steps).toEqual([]);
  });

  it("removes the VFs, restores the MTU and releases the PF, after a drain", () => {
    const result = planned(undefined, configured, [[pci, { externallyManaged: false, initialMtu: 1500 }]], [pci]);
    expect(result.steps).toEqual([
      `set sriov_numvfs 2 -> 0 on ${pci}`,
      `set mtu 9000 -> 1500 on ${pci}`,
      `release ${pci}`,
    ]);
    expect(result.impact).toBe("drain");
  });

  it("names spec.unselected as the field of all reasons, because the PF has no entry in spec.interfaces", () => {
    const result = planned(undefined, configured, [[pci, { externallyManaged: false, initialMtu: 1500 }]], [pci]);
    expect(result.reasons).toEqual([`spec.unselected: ${pci}: changing numVfs from 2 to 0 removes the 2 existing VFs`]);
  });

  it("only releases a PF that is externally managed", () => {
    const owned: [string, OwnedPf][] = [[pci, { externallyManaged: true }]];
    expect(planned(undefined, configured, owned, [pci]).steps).toEqual([`release ${pci}`]);
  });

  it("has no steps if spec.unselected does not name the PF, because the writer of the spec may not know it", () => {
    const owned: [string, OwnedPf][] = [[pci, { externallyManaged: false, initialMtu: 1500 }]];
    expect(planned(undefined, configured, owned)).toEqual({ steps: [], impact: "none", problems: [], reasons: [] });
    expect(planned(undefined, configured, owned, ["0000:5e:00.0"]).steps).toEqual([]);
  });

  it("has no steps if spec.unselected names the PF, but Switchyard did not configure it", () => {
    expect(planned(undefined, configured, [], [pci]).steps).toEqual([]);
  });

  it("reads the owned PFs from the status", () => {
    const status = { interfaces: [{ ...configured, owned: true, initialMtu: 1500 }, { pciAddress: "0000:5e:00.0" }] };
    expect([...ownedInStatus(status)]).toEqual([[pci, { externallyManaged: false, initialMtu: 1500 }]]);
  });
});

describe("plan as a whole", () => {
  const counts = fc.record({ wanted: fc.nat(10), existing: fc.nat(8), mtu: fc.constantFrom(0, 1400, 9000, 9300) });

  it("has no impact without steps, and no steps for a PF that is neither in the spec nor owned", () => {
    fc.assert(
      fc.property(counts, ({ wanted, existing, mtu }) => {
        const stranger = pfStatus({ pciAddress: "0000:5e:00.0", numVfs: existing, Vfs: vfs(existing) });
        const spec = pfSpec({ numVfs: wanted, mtu, vfGroups: wanted > 0 ? [{ vfRange: `0-${wanted - 1}`, mtu }] : [] });
        const status = pfStatus({ numVfs: existing, Vfs: vfs(existing) });
        const result = plan({ interfaces: [spec] }, { interfaces: [status, stranger] }, new Map());
        if (result.steps.length === 0) expect(result.impact).toBe("none");
        for (const step of result.steps) if ("pciAddress" in step) expect(step.pciAddress).toBe(pci);
        if (wanted > 8) expect(result.steps).toEqual([]);
      }),
    );
  });
});
