// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, LinuxBridge, LinuxBridgeConfig, SriovNetworkNodeStateSpec } from "@switchyard/api";
import fc from "fast-check";
import { plan, type Plan } from "../plan.ts";
import { describeProblem } from "../problem.ts";
import { describeStep } from "../steps/step.ts";

const pci = "0000:3b:00.0";
const name = "br-0000_3b_00.0";

/** A PF in switchdev mode with two configured VFs. */
function pfStatus(overrides: Partial<InterfaceStatus> = {}): InterfaceStatus {
  const vfs = [0, 1].map((vfID) => ({
    pciAddress: `0000:3b:02.${vfID}`,
    vfID,
    name: `ens1f0v${vfID}`,
    driver: "iavf",
    mtu: 1500,
    mac: `02:00:00:00:01:0${vfID}`,
    adminMac: `02:00:00:00:01:0${vfID}`,
    representorName: `ens1f0_${vfID}`,
  }));
  return {
    pciAddress: pci,
    name: "ens1f0",
    mtu: 1500,
    maxMtu: 9216,
    linkType: "ETH",
    linkAdminState: "up",
    eSwitchMode: "switchdev",
    totalvfs: 8,
    numVfs: 2,
    Vfs: vfs,
    owned: true,
    ...overrides,
  };
}

function bridge(overrides: Partial<LinuxBridge> = {}): LinuxBridge {
  return { name, uplinks: [{ pciAddress: pci, name: "ens1f0" }], ...overrides };
}

/** The same bridge as the daemon reports it. */
function observed(overrides: Partial<LinuxBridge> = {}): LinuxBridge {
  const config: LinuxBridgeConfig = { vlanFiltering: false, vlanProtocol: "802.1Q" };
  return { ...bridge(), bridge: config, linkAdminState: "up", ...overrides };
}

interface Given {
  readonly wanted?: readonly LinuxBridge[];
  readonly found?: readonly LinuxBridge[];
  readonly pf?: InterfaceStatus;
  readonly spec?: Partial<SriovNetworkNodeStateSpec>;
  readonly isManaged?: boolean;
}

const entry = { pciAddress: pci, name: "ens1f0", numVfs: 2, eSwitchMode: "switchdev" };

function planned({ wanted = [], found = [], pf = pfStatus(), spec = {}, isManaged = true }: Given): Plan {
  const desired = { interfaces: [entry], bridges: { linux: wanted }, ...spec };
  const status = {
    interfaces: [pf],
    observedGeneration: 1,
    bridges: { linux: found },
    ...(isManaged && { openVSwitch: { hardwareOffload: true } }),
  };
  return plan(desired, status, new Map([[pci, { externallyManaged: false }]]));
}

const stepsOf = (given: Given) => planned(given).steps.map(describeStep);
const problemsOf = (given: Given) => planned(given).problems.map(describeProblem);

const create = `create Linux bridge ${name} with uplink ${pci}`;
const change = `change Linux bridge ${name} with uplink ${pci}`;
const remove = `remove Linux bridge ${name} of ${pci}`;

describe("plan for Linux bridges", () => {
  it("creates a missing bridge, and is empty when it is there", () => {
    expect(stepsOf({ wanted: [bridge()] })).toEqual([create]);
    expect(planned({ wanted: [bridge()], found: [observed()] })).toMatchObject({ steps: [], problems: [] });
  });

  it("sets the bridge after the VFs of the PF exist, and disrupts no pod for it", () => {
    const { steps, impact } = planned({ wanted: [bridge()], pf: pfStatus({ numVfs: 0, Vfs: [] }) });
    expect(steps.map(({ kind }) => kind)).toContain("set-num-vfs");
    expect(steps.at(-1)?.kind).toBe("set-linux-bridge");
    expect(impact).toBe("none");
  });

  it.each<{ drift: string; wanted?: Partial<LinuxBridge>; found: Partial<LinuxBridge>; drains: boolean }>([
    { drift: "is down", found: { linkAdminState: "down" }, drains: false },
    { drift: "lost its uplink", found: { uplinks: [] }, drains: false },
    {
      drift: "filters VLANs, or not",
      wanted: { bridge: { vlanFiltering: true } },
      found: {},
      drains: true,
    },
    {
      drift: "has another VLAN protocol",
      found: { bridge: { vlanFiltering: false, vlanProtocol: "802.1ad" } },
      drains: true,
    },
    {
      drift: "lacks a setting of the uplink",
      wanted: { uplinks: [{ pciAddress: pci, uplink: { learning: "0" } }] },
      found: {},
      drains: false,
    },
    {
      drift: "has a setting of the uplink that is no longer wanted",
      found: { uplinks: [{ pciAddress: pci, uplink: { learning: "0" } }] },
      drains: false,
    },
  ])("changes a bridge that $drift", ({ wanted, found, drains }) => {
    const given = { wanted: [bridge(wanted)], found: [observed(found)] };
    expect(stepsOf(given)).toEqual([change]);
    expect(planned(given).impact).toBe(drains ? "drain" : "none");
  });

  it("accepts settings that are written in another form, and a path_cost of the kernel", () => {
    const uplink = { learning: "01", isolated: "1", path_cost: "100" };
    const shown = { isolated: "1", path_cost: "100" };
    const given = { wanted: [bridge({ uplinks: [{ pciAddress: pci, uplink }] })] };
    expect(stepsOf({ ...given, found: [observed({ uplinks: [{ pciAddress: pci, uplink: shown }] })] })).toEqual([]);
    const kernels = observed({ uplinks: [{ pciAddress: pci, uplink: { path_cost: "4" } }] });
    expect(stepsOf({ wanted: [bridge()], found: [kernels] })).toEqual([]);
  });

  it("drains the node if pods must be attached to the bridge again", () => {
    const { impact, reasons } = planned({ wanted: [bridge()] });
    expect(impact).toBe("drain");
    expect(reasons.map(({ text }) => text)).toEqual([
      `${pci}: creating bridge ${name} requires that pods attach the 2 existing VFs to it again`,
    ]);
  });
});

describe("plan for Linux bridges that are not wanted", () => {
  it("removes the bridge of a PF in the spec that has none any more, and drains the node for its VFs", () => {
    expect(stepsOf({ found: [observed()] })).toEqual([remove]);
    expect(planned({ found: [observed()] }).reasons).toMatchObject([
      { field: "spec.bridges", text: `${pci}: removing bridge ${name} disconnects the 2 existing VFs` },
    ]);
  });

  it("removes the bridge before the PF is reset and released, also if the bridge has lost its uplink", () => {
    for (const found of [observed(), observed({ uplinks: [] })]) {
      const steps = stepsOf({ found: [found], spec: { interfaces: [], unselected: [pci] } });
      expect(steps[0]).toBe(remove);
      expect(steps.at(-1)).toBe(`release ${pci}`);
    }
  });

  it("keeps the bridge of a PF that the spec does not name", () => {
    expect(stepsOf({ found: [observed()], spec: { interfaces: [] } })).toEqual([]);
  });

  it("keeps bridges of other PFs", () => {
    const other = { name: "br-0000_3b_00.1", uplinks: [{ pciAddress: "0000:3b:00.1" }] };
    expect(stepsOf({ found: [observed(other)] })).toEqual([]);
  });

  it("removes bridges also if the daemon does not manage bridges any more", () => {
    expect(stepsOf({ found: [observed()], isManaged: false })).toEqual([remove]);
  });
});

describe("plan for Linux bridges of PFs that the host uses", () => {
  const used = pfStatus({ hostUse: ["default route", "route to the API server 192.0.2.1"] });

  it("does not attach the PF, and says why", () => {
    const given = { wanted: [bridge()], pf: used };
    expect(stepsOf(given)).toEqual([]);
    expect(problemsOf(given)).toEqual([
      `spec.bridges.linux[0]: ${pci} cannot become a port of bridge ${name}, because the host uses it: ` +
        "default route, route to the API server 192.0.2.1",
    ]);
    expect(stepsOf({ ...given, found: [observed({ uplinks: [] })] })).toEqual([]);
  });

  it("keeps a bridge that already carries the route, and repairs its settings", () => {
    expect(planned({ wanted: [bridge()], pf: used, found: [observed()] })).toMatchObject({ steps: [], problems: [] });
    expect(stepsOf({ wanted: [bridge()], pf: used, found: [observed({ linkAdminState: "down" })] })).toEqual([change]);
  });

  it("does not remove a bridge that carries the route, and does not reset its PF", () => {
    for (const spec of [{}, { interfaces: [], unselected: [pci] }]) {
      const given = { pf: used, found: [observed()], spec };
      expect(stepsOf(given)).toEqual([]);
      expect(problemsOf(given)).toEqual([
        `spec.bridges.linux: bridge ${name} of ${pci} cannot be removed, because the host uses it: ` +
          "default route, route to the API server 192.0.2.1",
      ]);
    }
  });
});

describe("plan for invalid Linux bridges", () => {
  it.each<{ what: string; wanted: LinuxBridge; problem: string }>([
    {
      what: "another name",
      wanted: bridge({ name: "../../x" }),
      problem: `spec.bridges.linux[0]: the bridge of ${pci} must have the name ${name}, not "../../x"`,
    },
    {
      what: "an unknown VLAN protocol",
      wanted: bridge({ bridge: JSON.parse('{"vlanProtocol":"802.1x"}') as LinuxBridgeConfig }),
      problem: 'spec.bridges.linux[0]: "802.1x" is not a VLAN protocol: use 802.1Q or 802.1ad',
    },
    {
      what: "a setting that is too large",
      wanted: bridge({ uplinks: [{ pciAddress: pci, uplink: { priority: "64" } }] }),
      problem: 'spec.bridges.linux[0]: priority must be a number from 0 to 63, not "64"',
    },
    {
      what: "a setting that is no number",
      wanted: bridge({ uplinks: [{ pciAddress: pci, uplink: { learning: "on" } }] }),
      problem: 'spec.bridges.linux[0]: learning must be a number from 0 to 1, not "on"',
    },
    {
      what: "no uplink",
      wanted: bridge({ uplinks: [] }),
      problem: "spec.bridges.linux[0].uplinks: a bridge must have exactly one uplink",
    },
    {
      what: "the uplink of another node",
      wanted: bridge({ uplinks: [{ pciAddress: "0000:5e:00.0" }] }),
      problem: "spec.bridges.linux[0].uplinks: 0000:5e:00.0 is not a PF of this node",
    },
  ])("refuses $what, and changes no bridge", ({ wanted, problem }) => {
    expect(stepsOf({ wanted: [wanted] })).toEqual([]);
    expect(problemsOf({ wanted: [wanted] })).toEqual([problem]);
  });

  it("refuses unknown settings of the uplink and lists the known ones", () => {
    for (const setting of ["flush", "state", "../learning", "__proto__", "constructor"]) {
      const uplink = Object.fromEntries([[setting, "1"]]);
      const given = { wanted: [bridge({ uplinks: [{ pciAddress: pci, uplink }] })] };
      expect(stepsOf(given)).toEqual([]);
      expect(problemsOf(given).join()).toContain(
        `${JSON.stringify(setting)} is not a setting of a port: use bpdu_guard,`,
      );
    }
  });

  it("refuses two bridges with the same uplink", () => {
    const ovs = [{ name, uplinks: [{ pciAddress: pci }] }];
    const problems = planned({ spec: { bridges: { linux: [bridge()], ovs } } }).problems.map(describeProblem);
    expect(problems).toContain(`spec.bridges.linux[0].uplinks: ${pci} is the uplink of another bridge`);
  });

  it("reports that the daemon does not manage bridges, and creates none", () => {
    const given = { wanted: [bridge()], isManaged: false };
    expect(stepsOf(given)).toEqual([]);
    expect(problemsOf(given)).toEqual([
      "spec.bridges.linux[0]: the config daemon does not manage software bridges: it runs without --manage-software-bridges",
    ]);
  });

  it("knows nothing about the bridges of a node whose status is of upstream's daemon, and reports no problem", () => {
    const desired = {
      interfaces: [entry],
      bridges: { linux: [bridge()], ovs: [{ name, uplinks: [{ pciAddress: pci }] }] },
    };
    const status = { interfaces: [pfStatus()], bridges: {}, syncStatus: "Succeeded" };
    expect(plan(desired, status, new Map()).problems).toEqual([]);
    const reported = plan(desired, { ...status, observedGeneration: 1 }, new Map());
    expect(reported.problems.map(describeProblem).join()).toContain("runs without --manage-software-bridges");
  });

  it("plans only steps for this bridge, with numbers in range, whatever the settings are", () => {
    const uplink = fc.dictionary(
      fc.oneof(fc.constantFrom("learning", "priority", "path_cost"), fc.string()),
      fc.string(),
    );
    fc.assert(
      fc.property(uplink, fc.string(), (settings, other) => {
        const wanted = bridge({ name: fc.sample(fc.constantFrom(name, other), 1)[0] ?? name });
        const given = { wanted: [{ ...wanted, uplinks: [{ pciAddress: pci, uplink: settings }] }] };
        for (const step of planned(given).steps) {
          expect(step).toMatchObject({ kind: "set-linux-bridge", bridge: name });
          if (step.kind !== "set-linux-bridge") continue;
          for (const value of Object.values(step.port)) expect(value >= 0 && value <= 65_535).toBe(true);
        }
      }),
    );
  });
});
