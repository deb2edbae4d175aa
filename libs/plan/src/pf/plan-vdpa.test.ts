// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, VfGroup, VfStatus } from "@switchyard/api";
import { plan } from "../plan.ts";
import { describeProblem } from "../problem.ts";
import { describeStep } from "../steps/step.ts";

const pciAddress = "0000:3b:00.0";
const vhost: VfGroup = { vfRange: "0-0", vdpaType: "vhost" };

function vf(overrides: Partial<VfStatus> = {}): VfStatus {
  return {
    pciAddress: "0000:3b:00.2",
    vfID: 0,
    name: "v0",
    driver: "mlx5_core",
    adminMac: "02:00:00:00:00:01",
    representorName: "rep0",
    ...overrides,
  };
}

function planned(vfs: readonly VfStatus[], group: VfGroup | undefined, spec: Partial<InterfaceSpec> = {}) {
  const status = { pciAddress, linkType: "ETH", totalvfs: 8, numVfs: vfs.length, Vfs: vfs, eSwitchMode: "switchdev" };
  const wanted = { pciAddress, numVfs: 1, eSwitchMode: "switchdev", vfGroups: group ? [group] : [], ...spec };
  const result = plan({ interfaces: [wanted] }, { interfaces: [status] }, new Map());
  return {
    steps: result.steps.map(describeStep),
    reasons: result.reasons.map(({ field, text }) => `${field}: ${text}`),
    problems: result.problems.map(describeProblem),
  };
}

const add = `add vhost vDPA device to VF 0 of ${pciAddress}`;
const remove = `remove vDPA device of VF 0 of ${pciAddress}`;
const reason = (text: string) => [`spec.interfaces[0].vfGroups: ${pciAddress}: ${text}`];

describe("the plan for vDPA devices", () => {
  it("loads the driver and adds a device to a new VF, after its other settings, without a drain", () => {
    const { steps, reasons } = planned([], vhost);
    expect(steps.slice(0, 1)).toEqual(["load kernel module vhost_vdpa"]);
    expect(steps.at(-1)).toBe(add);
    expect(steps.some((step) => step.startsWith("set sriov_numvfs 0 -> 1"))).toBe(true);
    expect(reasons).toEqual([]);
  });

  it("is empty for a VF with the device", () => {
    expect(planned([vf({ vdpaType: "vhost" })], vhost).steps).toEqual([]);
    expect(planned([vf()], { vfRange: "0-0" }).steps).toEqual([]);
  });

  it.each([
    { what: "whose interface is on the host", given: vf(), reasons: [] },
    { what: "whose device has no driver", given: vf({ vdpaType: "unbound" }), reasons: [] },
    {
      what: "that a pod may use",
      given: vf({ name: "" }),
      reasons: reason("VF 0 gets a vDPA device, and a pod may use the VF"),
    },
  ])("adds a device to an existing VF $what", ({ given, reasons }) => {
    expect(planned([given], vhost)).toEqual({ steps: ["load kernel module vhost_vdpa", add], reasons, problems: [] });
  });

  it("changes the type after a drain", () => {
    const { steps, reasons } = planned([vf({ vdpaType: "virtio" })], vhost);
    expect(steps).toEqual([
      "load kernel module vhost_vdpa",
      `change vDPA device of VF 0 of ${pciAddress} from virtio to vhost`,
    ]);
    expect(reasons).toEqual(reason("VF 0 changes its vDPA device from virtio to vhost"));
  });

  it.each(["virtio", "vhost", "unbound"])("removes a %s device that is not requested, after a drain", (vdpaType) => {
    const { steps, reasons } = planned([vf({ vdpaType })], { vfRange: "0-0" });
    expect([steps, reasons]).toEqual([[remove], reason("VF 0 loses its vDPA device")]);
  });

  it("leaves VFs outside of groups alone", () => {
    expect(planned([vf({ vdpaType: "vhost" })], undefined).steps).toEqual([]);
  });

  it("removes the device before its VF changes its driver", () => {
    const { steps } = planned([vf({ vdpaType: "vhost" })], { vfRange: "0-0", deviceType: "vfio-pci" });
    expect(steps.slice(1)).toEqual([remove, expect.stringContaining("to vfio-pci")]);
  });

  it("removes the devices before the VFs", () => {
    const vfs = [vf({ vdpaType: "vhost" }), vf({ vfID: 1, pciAddress: "0000:3b:00.3", vdpaType: "virtio" })];
    const { steps } = planned(vfs, undefined, { numVfs: 3 });
    const at = (text: string) => steps.findIndex((step) => step.startsWith(text));
    expect(steps.filter((step) => step.startsWith("remove vDPA"))).toHaveLength(2);
    expect(at("set sriov_numvfs")).toBeGreaterThan(at("remove vDPA device of VF 1"));

    const status = { pciAddress, totalvfs: 8, numVfs: 2, Vfs: vfs, eSwitchMode: "legacy", owned: true };
    const owned = new Map([[pciAddress, { externallyManaged: false }]]);
    const reset = plan({ unselected: [pciAddress] }, { interfaces: [status] }, owned).steps.map(describeStep);
    expect(reset.slice(0, 3)).toEqual([
      remove,
      remove.replace("VF 0", "VF 1"),
      `set sriov_numvfs 2 -> 0 on ${pciAddress}`,
    ]);
  });

  it.each([
    { group: { ...vhost, deviceType: "vfio-pci" as const }, problem: '"vhost" requires deviceType "netdevice"' },
    {
      group: { ...vhost, vdpaType: "../x" as "vhost" },
      problem: '"../x" is not supported; supported values are "virtio" and "vhost"',
    },
  ])("refuses a group: $problem", ({ group, problem }) => {
    expect(planned([vf()], group)).toEqual({
      steps: [],
      reasons: [],
      problems: [`spec.interfaces[0].vfGroups[0].vdpaType: ${problem}`],
    });
  });

  it("refuses a group in legacy mode", () => {
    const status = { pciAddress, totalvfs: 8, numVfs: 1, Vfs: [vf()], eSwitchMode: "legacy" };
    const spec = { pciAddress, numVfs: 1, vfGroups: [vhost] };
    const { steps, problems } = plan({ interfaces: [spec] }, { interfaces: [status] }, new Map());
    expect(steps).toEqual([]);
    expect(problems.map(describeProblem)).toEqual([
      'spec.interfaces[0].vfGroups[0].vdpaType: "vhost" requires eSwitchMode "switchdev"',
    ]);
  });
});

describe("the plan for vDPA devices of virtio VFs", () => {
  const bind = (to: string) => `bind VF 0 of ${pciAddress} to ${to}`;

  function onVirtio(vfs: readonly VfStatus[], group: VfGroup, spec: Partial<InterfaceSpec> = {}) {
    const driver = { vendor: "1af4", driver: "virtio-pci", hasESwitch: false };
    const status = { pciAddress, ...driver, linkType: "ETH", totalvfs: 2, numVfs: vfs.length, Vfs: vfs };
    const wanted = { pciAddress, numVfs: 1, vfGroups: [group], ...spec };
    const result = plan({ interfaces: [wanted] }, { interfaces: [status] }, new Map());
    return { ...result, steps: result.steps.map(describeStep), reasons: result.reasons.map(({ text }) => text) };
  }

  const virtioVf = (overrides: Partial<VfStatus> = {}): VfStatus => {
    const { adminMac: _mac, representorName: _representor, ...own } = vf({ driver: "virtio-pci" });
    return { ...own, ...overrides };
  };

  it("binds a new VF to vp-vdpa before it adds the device, and sets no MAC address", () => {
    const { steps, reasons } = onVirtio([], { ...vhost, mtu: 2_000 });
    expect(steps).toEqual([
      "load kernel module vhost_vdpa",
      "load kernel module vp-vdpa",
      `set sriov_numvfs 0 -> 1 on ${pciAddress}`,
      bind("vp-vdpa"),
      add,
    ]);
    expect(reasons).toEqual([]);
  });

  it("sets no MAC address of a VF without a vDPA device, because the PF stores none", () => {
    expect(onVirtio([], { vfRange: "0-0" }).steps).toEqual([`set sriov_numvfs 0 -> 1 on ${pciAddress}`]);
  });

  it("is empty for a VF with the device, and completes one that a killed daemon has bound, without a drain", () => {
    const bound = virtioVf({ name: "", driver: "vp-vdpa" });
    expect(onVirtio([{ ...bound, vdpaType: "vhost" }], vhost).steps).toEqual([]);
    expect(onVirtio([bound], vhost)).toMatchObject({ steps: ["load kernel module vhost_vdpa", add], reasons: [] });
  });

  it("changes the driver of an existing VF after a drain, in both directions", () => {
    const there = onVirtio([virtioVf()], vhost);
    expect(there.steps.slice(2)).toEqual([`${bind("vp-vdpa")} (from virtio-pci)`, add]);
    expect(there.impact).toBe("drain");
    const back = onVirtio([virtioVf({ name: "", driver: "vp-vdpa", vdpaType: "vhost" })], { vfRange: "0-0" });
    expect(back.steps).toEqual([remove, `${bind("its kernel driver")} (from vp-vdpa)`]);
    expect(back.impact).toBe("drain");
  });

  it("does not exist in switchdev mode, because the NIC has no eswitch", () => {
    expect(onVirtio([virtioVf()], vhost, { eSwitchMode: "switchdev" }).problems.map(describeProblem)).toEqual([
      expect.stringContaining(`"switchdev" requested, but driver virtio-pci offers no eswitch for ${pciAddress}`),
    ]);
  });
});
