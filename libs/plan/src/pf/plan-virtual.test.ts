// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, InterfaceStatus, VfGroup } from "@switchyard/api";
import { plan } from "../plan.ts";
import { describeStep } from "../steps/step.ts";

const pciAddress = "0000:00:05.0";
const driver = "mlx5_core";

/** The card of a virtual machine, which is its own only VF. */
function virtualNic(bound: string, more: Partial<InterfaceStatus> = {}): InterfaceStatus {
  const isKernel = bound === driver;
  return {
    pciAddress,
    vendor: "15b3",
    deviceID: "101e",
    driver: bound,
    ...(isKernel && { name: "ens5", mtu: 1500, linkAdminState: "up" }),
    totalvfs: 1,
    numVfs: 1,
    Vfs: [{ pciAddress, vfID: 0, driver: bound, ...(isKernel && { name: "ens5", mtu: 1500 }) }],
    ...more,
  };
}

function planned(spec: Partial<InterfaceSpec>, status: InterfaceStatus) {
  const group: VfGroup = { resourceName: "r", vfRange: "0-0", deviceType: "vfio-pci" };
  const wanted = { pciAddress, name: "ens5", numVfs: 1, vfGroups: [group], ...spec };
  const { steps, problems } = plan({ interfaces: [wanted] }, { interfaces: [status] }, new Map());
  return { steps: steps.map(describeStep), problems: problems.map(({ field, message }) => `${field}: ${message}`) };
}

const netdevice = { vfGroups: [{ resourceName: "r", vfRange: "0-0" }] };
const isVf = `${pciAddress} is a VF that the hypervisor passes to this virtual machine`;

describe("the plan for the card of a virtual machine", () => {
  it("binds it to vfio-pci, and creates no VFs", () => {
    const { steps, problems } = planned({}, virtualNic(driver));
    expect(steps.filter((text) => text.includes("sriov_numvfs"))).toEqual([]);
    expect(steps.filter((text) => text.includes("vfio-pci") && text.includes(pciAddress))).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  it("has no steps if the card has its driver already", () => {
    expect(planned({}, virtualNic("vfio-pci", { owned: true })).steps.filter((text) => text.includes("bind"))).toEqual(
      [],
    );
    expect(planned(netdevice, virtualNic(driver))).toEqual({ steps: [], problems: [] });
  });

  it("gives it back to its kernel driver for the device type netdevice", () => {
    const { steps } = planned(netdevice, virtualNic("vfio-pci", { owned: true }));
    expect(steps.filter((text) => text.includes("bind") || text.includes("driver"))).toHaveLength(1);
  });

  it.each<{ spec: Partial<InterfaceSpec>; problem: string }>([
    { spec: { numVfs: 2 }, problem: `numVfs: must be 1, not 2, because ${isVf}` },
    {
      spec: { eSwitchMode: "switchdev" },
      problem: `eSwitchMode: "switchdev" requested, but ${isVf}, without a switch`,
    },
    { spec: { linkType: "IB" }, problem: `linkType: "IB" requested, but ${isVf}: its link type must be eth` },
    {
      spec: { vfGroups: [{ resourceName: "r", vfRange: "0-1" }] },
      problem: `vfGroups: exactly one group with vfRange "0-0" is possible, because ${isVf}`,
    },
    {
      spec: { vfGroups: [{ resourceName: "r", vfRange: "0-0", vdpaType: "virtio" }] },
      problem: `vfGroups[0].vdpaType: "virtio" requested, but ${isVf}`,
    },
  ])("refuses $spec", ({ spec, problem }) => {
    expect(planned(spec, virtualNic(driver))).toEqual({ steps: [], problems: [`spec.interfaces[0].${problem}`] });
  });
});
