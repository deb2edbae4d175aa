// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, InterfaceStatus, KernelStatus, RebootStatus } from "@switchyard/api";
import { plan } from "./plan.ts";
import { describeProblem } from "./problem.ts";
import { describeStep } from "./steps/step.ts";

const pci = "0000:3b:00.0";
const field = "spec.interfaces[0].vfGroups[0].deviceType";
const intel: KernelStatus = { cpuVendor: "intel", iommu: false, bootLoader: "grubby" };
const both = ["intel_iommu=on", "iommu=pt"];

const userSpace: InterfaceSpec = {
  pciAddress: pci,
  numVfs: 2,
  vfGroups: [{ resourceName: "r", vfRange: "0-1", deviceType: "vfio-pci" }],
};

function planned(
  kernel: KernelStatus | undefined,
  given: { readonly spec?: InterfaceSpec; readonly pf?: Partial<InterfaceStatus>; readonly reboot?: RebootStatus } = {},
) {
  const pf: InterfaceStatus = {
    pciAddress: pci,
    name: "ens1f0",
    linkAdminState: "up",
    mtu: 1500,
    totalvfs: 8,
    numVfs: 0,
    ...given.pf,
  };
  const system = { ...(kernel && { kernel }), ...(given.reboot && { reboot: given.reboot }) };
  const result = plan({ interfaces: [given.spec ?? userSpace] }, { interfaces: [pf], system }, new Map());
  return {
    steps: result.steps.map(describeStep),
    impact: result.impact,
    reasons: result.reasons.map((reason) => `${reason.field}: ${reason.text}`),
    problems: result.problems.map(describeProblem),
  };
}

const setBoth = "change kernel arguments of the next boot: add intel_iommu=on iommu=pt";
const rebootForBoth = "reboot for kernel argument intel_iommu=on, kernel argument iommu=pt";
const vfSteps = [
  `set sriov_numvfs 0 -> 2 on ${pci}`,
  `bind VF 0 of ${pci} to vfio-pci`,
  `bind VF 1 of ${pci} to vfio-pci`,
];

describe("kernel arguments for vfio-pci", () => {
  it("are configured on Intel CPUs without an active IOMMU, and the node reboots before its PFs are configured", () => {
    const why = "vfio-pci needs an active IOMMU and the kernel argument";
    expect(planned(intel)).toEqual({
      steps: [setBoth, rebootForBoth],
      impact: "reboot",
      reasons: both.map((argument) => `${field}: ${why} ${argument}, which takes effect at the next boot`),
      problems: [],
    });
  });

  it("only wait for the reboot once they are configured", () => {
    expect(planned({ ...intel, nextArguments: both })).toMatchObject({ steps: [rebootForBoth], impact: "reboot" });
  });

  it.each([
    { case: "the IOMMU is active", kernel: { ...intel, iommu: true } },
    { case: "the no-IOMMU mode of vfio is enabled", kernel: { ...intel, noIommuMode: true } },
    { case: "the node does not report its kernel", kernel: undefined },
    { case: "nobody knows whether the IOMMU is active", kernel: { cpuVendor: "intel", bootLoader: "grubby" } },
  ])("are not needed if $case", ({ kernel }) => {
    expect(planned(kernel)).toMatchObject({ impact: "none", problems: [] });
    expect(planned(kernel).steps).toContain(vfSteps[0]);
  });

  it("are not needed for VFs that are bound to vfio-pci already, or for kernel drivers", () => {
    const Vfs = [0, 1].map((vfID) => ({ pciAddress: `0000:3b:02.${vfID}`, vfID, driver: "vfio-pci" }));
    expect(planned(intel, { pf: { numVfs: 2, Vfs } })).toMatchObject({ steps: [], impact: "none" });
    const spec = { ...userSpace, vfGroups: [{ resourceName: "r", vfRange: "0-1" }] };
    expect(planned(intel, { spec }).impact).toBe("none");
  });

  it("are not configured for a PF whose spec is refused, and the node does not reboot", () => {
    const { steps, impact, problems } = planned(intel, { spec: { ...userSpace, numVfs: 9 } });
    expect({ steps, impact }).toEqual({ steps: [], impact: "none" });
    expect(problems.join()).toContain("supports at most 8");
  });

  it("keep the administrator's choice of a domain type", () => {
    const { steps } = planned({ ...intel, arguments: ["iommu=nopt"] });
    expect(steps[0]).toBe("change kernel arguments of the next boot: add intel_iommu=on");
  });

  it.each([
    { case: "the administrator switched the IOMMU off", kernel: { ...intel, arguments: ["intel_iommu=off"] } },
    { case: "the firmware of an Intel machine hides it", kernel: { ...intel, arguments: ["intel_iommu=on,sm_on"] } },
    { case: "the firmware of an AMD machine hides it", kernel: { ...intel, cpuVendor: "amd" } },
    { case: "another machine has none", kernel: { ...intel, cpuVendor: "other" } },
  ])("cannot help if $case: this is a problem, no reboot, and the rest is applied", ({ kernel }) => {
    const { steps, impact, problems } = planned(kernel);
    expect(problems).toEqual([expect.stringContaining(`${field}: vfio-pci needs an active IOMMU, but`)]);
    expect([steps[0], impact]).toEqual(["load kernel module vfio-pci", "none"]);
    expect(steps.slice(1, 2)).toEqual(vfSteps.slice(0, 1));
  });

  it("name amd_iommu=off, and not the firmware settings, if it switches the IOMMU off", () => {
    const { problems } = planned({ ...intel, cpuVendor: "amd", arguments: ["amd_iommu=off"] });
    expect(problems.join()).toContain("the arguments of the kernel switch it off: amd_iommu=off");
  });

  it("are named if the boot loader is not known, and the rest is applied without a reboot", () => {
    const { bootLoader: _none, ...kernel } = intel;
    const { steps, impact, problems } = planned(kernel);
    expect(problems).toEqual([
      expect.stringContaining("add intel_iommu=on iommu=pt in the configuration of the boot loader"),
    ]);
    expect([steps.length, impact]).toEqual([4, "none"]);
  });

  it("are tried again without a reboot while the boot loader refuses them, and the rest is applied", () => {
    const { steps, impact } = planned({ ...intel, bootLoaderError: "exit code 1" });
    expect(steps).toEqual([setBoth, "load kernel module vfio-pci", ...vfSteps]);
    expect(impact).toBe("none");
  });
});

describe("kernel arguments that are missing after the reboot", () => {
  const causes = both.map((argument) => `kernel argument ${argument}`);

  it("reboot the node again if the daemon was killed before the reboot", () => {
    const result = planned({ ...intel, nextArguments: both }, { reboot: { causes, done: false } });
    expect(result).toMatchObject({ steps: [rebootForBoth], impact: "reboot" });
  });

  it("are a problem, and never another reboot", () => {
    const { steps, impact, problems } = planned(intel, { reboot: { causes, done: true } });
    expect(impact).toBe("none");
    expect(steps).toEqual([setBoth, "load kernel module vfio-pci", ...vfSteps]);
    expect(problems[0]).toContain("kernel argument intel_iommu=on is not in effect after a reboot");
    expect(problems).toHaveLength(2);
  });

  it("are forgotten once they are in effect, so that a later loss reboots the node again", () => {
    const { steps, problems } = planned({ ...intel, iommu: true, arguments: both }, { reboot: { causes, done: true } });
    expect(steps[0]).toBe("forget the reboot for kernel argument intel_iommu=on, kernel argument iommu=pt");
    expect(problems).toEqual([]);
  });

  it("are not forgotten because the node does not report its kernel, or because no policy needs them", () => {
    expect(planned(undefined, { reboot: { causes, done: true } }).steps.join()).not.toContain("forget");
    const spec = { pciAddress: pci, numVfs: 0 };
    expect(planned(intel, { spec, reboot: { causes, done: true } }).steps).toEqual([]);
  });

  it("do not prevent a reboot for another cause", () => {
    const reboot = { causes: causes.slice(0, 1), done: true };
    const { steps, problems } = planned({ ...intel, nextArguments: both }, { reboot });
    expect(steps).toEqual(["reboot for kernel argument iommu=pt"]);
    expect(problems).toHaveLength(1);
  });
});

describe("pci=realloc", () => {
  const spec = { ...userSpace, numVfs: 6, vfGroups: [] };
  const kernel = { ...intel, iommu: true };

  it("is configured if the PCI bridges have no memory for the VFs (sriov-operator.md M-5)", () => {
    expect(planned(kernel, { spec, pf: { numVfsWithoutMemory: 6 } })).toMatchObject({
      steps: ["change kernel arguments of the next boot: add pci=realloc", "reboot for kernel argument pci=realloc"],
      reasons: [expect.stringContaining(`spec.interfaces[0].numVfs: 6 VFs of ${pci} need more memory space`)],
    });
  });

  it.each([
    { case: "was not tried with fewer VFs than failed", pf: { numVfsWithoutMemory: 7 }, present: [] },
    { case: "is there already", pf: { numVfsWithoutMemory: 6 }, present: ["pci=noaer,realloc"] },
    { case: "is not needed by the VFs that exist", pf: { numVfsWithoutMemory: 6, numVfs: 6 }, present: [] },
  ])("is not configured if it $case", ({ pf, present }) => {
    expect(planned({ ...kernel, arguments: present }, { spec, pf })).toMatchObject({ impact: "none", problems: [] });
  });

  it("is not configured for a PF whose spec is refused", () => {
    const { steps, impact } = planned(kernel, { spec: { ...spec, numVfs: 9 }, pf: { numVfsWithoutMemory: 6 } });
    expect({ steps, impact }).toEqual({ steps: [], impact: "none" });
  });

  it("is not configured against the administrator's will", () => {
    const result = planned({ ...kernel, arguments: ["pci=realloc=off"] }, { spec, pf: { numVfsWithoutMemory: 6 } });
    expect(result.impact).toBe("none");
    expect(result.problems).toEqual([expect.stringContaining("forbid")]);
  });
});
