// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, InterfaceStatus, VfStatus } from "@switchyard/api";
import fc from "fast-check";
import type { OwnedPf } from "./owned-pf.ts";
import { plan } from "../plan.ts";
import { describeProblem } from "../problem.ts";
import { describeStep } from "../steps/step.ts";

const pci = "0000:3b:00.0";

function pfStatus(driver: string, mode: string, numVfs: number, overrides: Partial<InterfaceStatus> = {}) {
  const vfs = Array.from({ length: numVfs }, (_, vfID): VfStatus => {
    const address = `02:00:00:00:01:0${vfID}`;
    return {
      pciAddress: `0000:3b:02.${vfID}`,
      vfID,
      name: `v${vfID}`,
      mac: address,
      adminMac: address,
      driver: "vf",
      ...(mode === "switchdev" && { representorName: `ens1f0np0_${vfID}` }),
    };
  });
  const pf = { pciAddress: pci, name: "ens1f0np0", mtu: 1500, linkAdminState: "up", totalvfs: 8, driver };
  return { ...pf, eSwitchMode: mode, numVfs, Vfs: vfs, ...overrides } satisfies InterfaceStatus;
}

function pfSpec(mode: string, numVfs: number, overrides: Partial<InterfaceSpec> = {}): InterfaceSpec {
  return { pciAddress: pci, numVfs, eSwitchMode: mode, vfGroups: [], ...overrides };
}

function planned(spec: InterfaceSpec | undefined, status: InterfaceStatus, owned?: OwnedPf) {
  const desired = spec === undefined ? { unselected: [pci] } : { interfaces: [spec] };
  const result = plan(desired, { interfaces: [status] }, new Map(owned && [[pci, owned]]));
  return {
    result,
    steps: result.steps.map((step) => describeStep(step).replaceAll(` on ${pci}`, "").replaceAll(` of ${pci}`, "")),
    problems: result.problems.map(describeProblem),
    reasons: result.reasons.map(({ field, text }) => `${field}: ${text}`),
  };
}

const offload = "turn on hw-tc-offload";
const bind = (...vfIds: readonly number[]) => vfIds.map((vfId) => `bind VF ${vfId} to its kernel driver`);

describe("the plan of an eswitch mode", () => {
  it.each([
    { driver: "mlx5_core", from: "legacy 0", to: "switchdev 2", steps: [offload, "vfs 0 -> 2", "mode legacy -> switchdev", ...bind(0, 1)] }, // prettier-ignore
    { driver: "mlx5_core", from: "legacy 2", to: "switchdev 2", steps: [offload, "mode legacy -> switchdev", ...bind(0, 1)] }, // prettier-ignore
    { driver: "mlx5_core", from: "legacy 1", to: "switchdev 2", steps: [offload, "vfs 1 -> 2", "mode legacy -> switchdev", ...bind(0, 1)] }, // prettier-ignore
    { driver: "mlx5_core", from: "switchdev 1", to: "switchdev 2", steps: ["mode switchdev -> legacy", "vfs 1 -> 2", "mode legacy -> switchdev", ...bind(0, 1)] }, // prettier-ignore
    { driver: "mlx5_core", from: "switchdev 2", to: "legacy 2", steps: ["mode switchdev -> legacy", ...bind(0, 1)] },
    { driver: "mlx5_core", from: "switchdev 2", to: "legacy 1", steps: ["mode switchdev -> legacy", "vfs 2 -> 1"] },
    { driver: "igb", from: "legacy 0", to: "switchdev 1", steps: [offload, "vfs 0 -> 1", "mode legacy -> switchdev", ...bind(0)] }, // prettier-ignore
    { driver: "ice", from: "legacy 0", to: "switchdev 2", steps: [offload, "mode legacy -> switchdev", "vfs 0 -> 2"] },
    { driver: "ice", from: "legacy 2", to: "switchdev 2", steps: [offload, "vfs 2 -> 0", "mode legacy -> switchdev", "vfs 0 -> 2"] }, // prettier-ignore
    { driver: "ice", from: "switchdev 1", to: "switchdev 2", steps: ["vfs 1 -> 2"] },
    { driver: "ice", from: "switchdev 2", to: "legacy 2", steps: ["vfs 2 -> 0", "mode switchdev -> legacy", "vfs 0 -> 2"] }, // prettier-ignore
    { driver: "mlx5_core", from: "switchdev 2", to: "switchdev 2", steps: [] },
  ])("$driver: from $from VFs to $to VFs", ({ driver, from, to, steps }) => {
    const [mode = "", numVfs] = from.split(" ");
    const [wantedMode = "", wanted] = to.split(" ");
    const { result, ...seen } = planned(pfSpec(wantedMode, Number(wanted)), pfStatus(driver, mode, Number(numVfs)));
    const words = steps.map((step) => step.replace(/^vfs/, "set sriov_numvfs").replace(/^mode/, "set eswitch mode"));
    expect([seen.steps, seen.problems]).toEqual([words, []]);
    expect(result.impact).toBe(Number(numVfs) > 0 && steps.length > 0 ? "drain" : "none");
  });

  it.each([
    { driver: "igb", vendor: "8086", owner: "" },
    { driver: "mlx5_core", vendor: "15b3", deviceID: "a2d6", owner: "; the card's own system has it" },
  ])("is refused for a PF whose driver $driver offers no eswitch$owner", ({ driver, owner, ...ids }) => {
    const status = pfStatus(driver, "legacy", 0, { ...ids, hasESwitch: false });
    expect(planned(pfSpec("switchdev", 2), status)).toMatchObject({
      steps: [],
      problems: [
        `spec.interfaces[0].eSwitchMode: "switchdev" requested, but driver ${driver} offers no eswitch for ${pci}${owner}`,
      ],
    });
    expect(planned(pfSpec("legacy", 2), status).problems).toEqual([]);
  });

  it("says which change disrupts pods, and not how it is made", () => {
    expect(planned(pfSpec("switchdev", 2), pfStatus("mlx5_core", "legacy", 2)).reasons).toEqual([
      `spec.interfaces[0].eSwitchMode: ${pci}: changing the eswitch mode from legacy to switchdev interrupts the 2 existing VFs`,
    ]);
    expect(planned(pfSpec("switchdev", 3), pfStatus("mlx5_core", "switchdev", 2)).reasons).toEqual([
      `spec.interfaces[0].numVfs: ${pci}: changing numVfs from 2 to 3 removes the 2 existing VFs`,
    ]);
  });

  it("sets flow_steering_mode while there are no VFs, and only before a change to switchdev", () => {
    const steering = { flowSteeringMode: "dmfs" };
    expect(planned(pfSpec("switchdev", 2), pfStatus("mlx5_core", "legacy", 2, steering)).steps.slice(0, 5)).toEqual([
      offload,
      "set sriov_numvfs 2 -> 0",
      "set flow_steering_mode dmfs -> smfs",
      "set sriov_numvfs 0 -> 2",
      "set eswitch mode legacy -> switchdev",
    ]);
    for (const mode of ["legacy", "switchdev"]) {
      expect(planned(pfSpec(mode, 2), pfStatus("mlx5_core", mode, 2, steering)).steps).toEqual([]);
    }
  });

  it("binds and configures all VFs of the groups after the change", () => {
    const groups: InterfaceSpec["vfGroups"] = [
      { vfRange: "0-0", mtu: 9000 },
      { vfRange: "1-1", deviceType: "vfio-pci" },
    ];
    const { steps } = planned(pfSpec("switchdev", 3, { vfGroups: groups }), pfStatus("mlx5_core", "legacy", 3));
    expect(steps).toEqual([
      "load kernel module vfio-pci",
      offload,
      "set eswitch mode legacy -> switchdev",
      "bind VF 0 to its kernel driver",
      "set administrative MAC address of VF 0",
      "set mtu 9000 on VF 0",
      "bind VF 1 to vfio-pci",
      "bind VF 2 to its kernel driver",
    ]);
  });

  it("binds all VFs of a group before it configures their interfaces", () => {
    const vfGroups = [{ resourceName: "pods", vfRange: "0-1", mtu: 9000 }];
    const { steps } = planned(pfSpec("switchdev", 2, { vfGroups }), pfStatus("mlx5_core", "legacy", 2));
    const configure = (vfId: number) => [`set administrative MAC address of VF ${vfId}`, `set mtu 9000 on VF ${vfId}`];
    expect(steps.slice(2)).toEqual([...bind(0, 1), ...configure(0), ...configure(1)]);
  });

  it("binds the VFs of no group, too, if a change of the mode left them without a driver", () => {
    const status = pfStatus("mlx5_core", "switchdev", 2);
    const unbound = { ...status, Vfs: status.Vfs.map(({ driver: _driver, ...vf }) => vf) };
    expect(planned(pfSpec("switchdev", 2), unbound).steps).toEqual(bind(0, 1));
    expect(planned(pfSpec("legacy", 2), { ...unbound, eSwitchMode: "legacy" }).steps).toEqual([]);
  });

  it("restores the number of VFs that the PF had if the driver refuses the mode", () => {
    const restored = (status: InterfaceStatus) =>
      planned(pfSpec("switchdev", 2), status).result.steps.flatMap((step) =>
        step.kind === "set-eswitch-mode" && step.to === "switchdev" ? [step.restoreNumVfs] : [],
      );
    expect(restored(pfStatus("mlx5_core", "legacy", 0))).toEqual([0]);
    expect(restored(pfStatus("mlx5_core", "legacy", 1))).toEqual([1]);
    expect(restored(pfStatus("mlx5_core", "legacy", 2))).toEqual([undefined]);
    expect(restored(pfStatus("ice", "legacy", 3))).toEqual([3]);
    expect(restored(pfStatus("ice", "legacy", 0))).toEqual([undefined]);
  });

  it("reports a VF without a representor", () => {
    const status = pfStatus("mlx5_core", "switchdev", 2);
    const vfs = status.Vfs.map(({ representorName, ...vf }) => (vf.vfID === 1 ? vf : { ...vf, representorName }));
    const { steps, problems } = planned(pfSpec("switchdev", 2), { ...status, Vfs: vfs as readonly VfStatus[] });
    expect([steps, problems]).toEqual([[], [`spec.interfaces[0].eSwitchMode: VF 1 of ${pci} has no representor`]]);
  });

  it("refuses switchdev on a PF without SR-IOV", () => {
    const { totalvfs: _totalvfs, numVfs: _numVfs, ...status } = pfStatus("igb", "legacy", 0);
    expect(planned(pfSpec("switchdev", 0), status).problems).toEqual([
      `spec.interfaces[0].eSwitchMode: "switchdev" requested, but ${pci} has no SR-IOV capability`,
    ]);
  });

  it.each(["legacy", "switchdev"])("never changes the mode of an externally managed PF in %s mode", (mode) => {
    const other = mode === "legacy" ? "switchdev" : "legacy";
    const external = { externallyManaged: true };
    expect(planned(pfSpec(other, 2, external), pfStatus("mlx5_core", mode, 2))).toMatchObject({
      steps: [],
      problems: [
        `spec.interfaces[0].eSwitchMode: "${other}" requested, but ${pci} is externally managed and in ${mode} mode`,
      ],
    });
    expect(planned(undefined, pfStatus("mlx5_core", mode, 2), { externallyManaged: true }).steps).toEqual([
      `release ${pci}`,
    ]);
  });

  it.each([
    { initial: "legacy", driver: "mlx5_core", steps: ["mode switchdev -> legacy", "vfs 2 -> 0"] },
    { initial: "legacy", driver: "ice", steps: ["vfs 2 -> 0", "mode switchdev -> legacy"] },
    { initial: "switchdev", driver: "ice", steps: ["vfs 2 -> 0"] },
    { initial: "switchdev", driver: "mlx5_core", steps: ["mode switchdev -> legacy", "vfs 2 -> 0", "mode legacy -> switchdev"] }, // prettier-ignore
    { initial: undefined, driver: "ice", steps: ["vfs 2 -> 0"] },
  ])("a reset of $driver restores the initial mode $initial", ({ initial, driver, steps }) => {
    const owned = { externallyManaged: false, ...(initial !== undefined && { initialESwitchMode: initial }) };
    const words = steps.map((step) => step.replace(/^vfs/, "set sriov_numvfs").replace(/^mode/, "set eswitch mode"));
    expect(planned(undefined, pfStatus(driver, "switchdev", 2), owned).steps).toEqual([...words, `release ${pci}`]);
  });

  it("reaches the wanted number and mode from any state, and never changes the mode of ice with VFs", () => {
    const mode = fc.constantFrom("legacy", "switchdev");
    const state = fc.tuple(mode, fc.nat(4));
    const driver = fc.constantFrom("ice", "mlx5_core");
    const reaches = fc.property(driver, state, state, fc.boolean(), (name, [from, existing], [to, wanted], dmfs) => {
      const status = pfStatus(name, from, existing, dmfs ? { flowSteeringMode: "dmfs" } : {});
      let now = { mode: from, count: existing };
      for (const step of planned(pfSpec(to, wanted), status).result.steps) {
        if (step.kind === "set-num-vfs") {
          expect(step.from).toBe(now.count);
          now = { ...now, count: step.to };
        } else if (step.kind === "set-eswitch-mode") {
          expect(step.from).toBe(now.mode);
          if (name === "ice") expect(now.count).toBe(0);
          now = { ...now, mode: step.to };
        } else if (step.kind === "set-flow-steering") expect(now).toEqual({ mode: "legacy", count: 0 });
      }
      expect(now).toEqual({ mode: to, count: wanted });
    });
    fc.assert(reaches);
  });
});
