// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the arguments of the kernel (sriov-operator.md F.5, M-22, M-44, M-45). An argument is only added, and only if the node
 * cannot do without: a node whose IOMMU is active needs none for vfio-pci. An argument that is not needed any longer stays
 * until `config-daemon cleanup`, because its removal would reboot the node for nothing.
 */
import type {
  InterfaceSpec,
  InterfaceStatus,
  KernelStatus,
  SriovNetworkNodeStateSpec,
  SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { parseVfRange } from "@switchyard/policy";
import { refusals } from "./pf/plan-pf.ts";
import { isVirtualNic } from "./pf/virtual-nic.ts";
import type { PlanProblem } from "./problem.ts";
import { noRebootNeeds, type RebootNeeds } from "./reboot.ts";
import type { NodeStep } from "./steps/step.ts";

export interface KernelArgumentsPlan {
  readonly steps: readonly NodeStep<"set-kernel-arguments">[];
  readonly reboots: RebootNeeds;
  readonly problems: readonly PlanProblem[];
}

/** An argument that a part of the spec needs. */
interface WantedArgument {
  readonly argument: string;
  readonly field: string;
  readonly pciAddress: string;
  /** "vfio-pci needs an IOMMU". */
  readonly why: string;
}

/** The arguments that the spec needs, and why others cannot be satisfied by arguments. */
interface Demand {
  readonly wanted: readonly WantedArgument[];
  readonly problems: readonly PlanProblem[];
}

const noDemand: Demand = { wanted: [], problems: [] };

/** Plans nothing for a node that does not report `system.kernel`: unknown is not missing. */
export function planKernelArguments(
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
): KernelArgumentsPlan {
  const kernel = observed.system?.kernel;
  if (kernel === undefined) return { steps: [], reboots: noRebootNeeds, problems: [] };
  const pfs = configurablePfs(desired, observed);
  const demands = [iommuDemand(pfs, kernel), ...memoryDemands(pfs, kernel)];
  const problems = demands.flatMap((demand) => demand.problems);
  const wanted = demands.flatMap((demand) => demand.wanted);
  const inEffect = (kernel.arguments ?? []).map(causeIdOf);
  const [first] = wanted;
  if (first === undefined) return { steps: [], reboots: { causes: [], inEffect }, problems };
  if (!kernel.bootLoader) {
    const names = [...new Set(wanted.map(({ argument }) => argument))].join(" ");
    const message =
      `${first.why}, but the kernel has no argument ${names}, and the node has none of grubby, rpm-ostree and update-grub; ` +
      `add ${names} in the configuration of the boot loader and reboot the node`;
    const { field, pciAddress } = first;
    return {
      steps: [],
      reboots: { causes: [], inEffect },
      problems: [...problems, { code: "unknown-boot-loader", field, pciAddress, message }],
    };
  }
  const configured = new Set(kernel.nextArguments);
  const add = [...new Set(wanted.map(({ argument }) => argument))].filter((argument) => !configured.has(argument));
  // While the boot loader refuses the arguments, the node does without them and does not wait for a reboot.
  const expected = kernel.bootLoaderError ? wanted.filter(({ argument }) => configured.has(argument)) : wanted;
  const causes = expected.map(({ argument, why, ...at }) => ({
    ...at,
    id: causeIdOf(argument),
    text: `${why} and the kernel argument ${argument}, which takes effect at the next boot`,
    isPending: configured.has(argument),
  }));
  const steps = add.length === 0 ? [] : [{ kind: "set-kernel-arguments" as const, add, remove: [] }];
  return { steps, reboots: { causes, inEffect }, problems };
}

/** A PF of the node with its entry in spec.interfaces. */
interface ConfigurablePf {
  readonly index: number;
  readonly spec: InterfaceSpec;
  readonly pf: InterfaceStatus;
}

/** A PF that stays unchanged, because its spec is refused, must not reboot the node. */
function configurablePfs(
  { interfaces = [] }: SriovNetworkNodeStateSpec,
  { interfaces: found = [] }: SriovNetworkNodeStateStatus,
): readonly ConfigurablePf[] {
  return interfaces.flatMap((spec, index): readonly ConfigurablePf[] => {
    const pf = found.find(({ pciAddress }) => pciAddress === spec.pciAddress);
    const isRefused = pf === undefined || refusals(spec, pf, `spec.interfaces[${index}]`).length > 0;
    return isRefused ? [] : [{ index, spec, pf }];
  });
}

function causeIdOf(argument: string): string {
  return `kernel argument ${argument}`;
}

/** The first VF group with vfio-pci whose VFs are not all bound to it needs an active IOMMU. */
function iommuDemand(pfs: readonly ConfigurablePf[], kernel: KernelStatus): Demand {
  // With the no-IOMMU mode of vfio, which the administrator has chosen, vfio-pci needs none (drivers/vfio/group.c, 6.12).
  const group = kernel.iommu === false && kernel.noIommuMode !== true ? findVfioGroup(pfs) : undefined;
  if (group === undefined) return noDemand;
  const why = "vfio-pci needs an active IOMMU";
  const { arguments: present = [], cpuVendor } = kernel;
  const problem = (message: string): Demand => ({ wanted: [], problems: [{ code: "no-iommu", ...group, message }] });

  const off = ["intel_iommu", "amd_iommu", "iommu"].some((name) => valuesOf(present, name).includes("off"));
  if (off) return problem(`${why}, but the arguments of the kernel switch it off: ${present.join(" ")}`);
  if (cpuVendor === "intel" && !valuesOf(present, "intel_iommu").includes("on")) {
    // With iommu=pt, devices of the host are not translated. Another choice of the administrator is kept.
    const passThrough = valuesOf(present, "iommu").length === 0 ? ["iommu=pt"] : [];
    return {
      wanted: ["intel_iommu=on", ...passThrough].map((argument) => ({ argument, ...group, why })),
      problems: [],
    };
  }
  // Linux uses the IOMMU of AMD without any argument, and that of Intel with intel_iommu=on.
  const setting = cpuVendor === "intel" ? "VT-d" : cpuVendor === "amd" ? "the IOMMU (AMD-Vi)" : "the IOMMU";
  return problem(`${why}, but the kernel has found none; switch on ${setting} in the firmware settings of the machine`);
}

function findVfioGroup(pfs: readonly ConfigurablePf[]): Pick<WantedArgument, "field" | "pciAddress"> | undefined {
  for (const { index, spec, pf } of pfs) {
    const { pciAddress, vfGroups = [] } = spec;
    for (const [at, { deviceType, vfRange = "" }] of vfGroups.entries()) {
      const range = parseVfRange(vfRange);
      if (pf.totalvfs === undefined || isVirtualNic(pf) || deviceType !== "vfio-pci" || !range.ok) continue;
      const { first, last } = range.value;
      const bound = (pf.Vfs ?? []).filter(({ vfID, driver }) => vfID >= first && vfID <= last && driver === "vfio-pci");
      // An unsafe mode of vfio works without an IOMMU.
      if (bound.length > last - first) continue;
      return { field: `spec.interfaces[${index}].vfGroups[${at}].deviceType`, pciAddress };
    }
  }
  return undefined;
}

/** PFs whose VFs did not fit into the memory of their PCI bridges (sriov-operator.md M-5). */
function memoryDemands(pfs: readonly ConfigurablePf[], { arguments: present = [] }: KernelStatus): readonly Demand[] {
  return pfs.flatMap(({ index, spec, pf }): readonly Demand[] => {
    const { pciAddress } = spec;
    if (!lacksMemory(spec, pf) || valuesOf(present, "pci").some((value) => /^realloc(=on)?$/.test(value))) return [];
    const field = `spec.interfaces[${index}].numVfs`;
    const why = `${spec.numVfs ?? 0} VFs of ${pciAddress} need more memory space than its PCI bridges have`;
    if (valuesOf(present, "pci").some((value) => ["norealloc", "realloc=off"].includes(value))) {
      const message = `${why}, but the arguments of the kernel forbid to reassign it: ${present.join(" ")}`;
      return [{ wanted: [], problems: [{ code: "no-pci-memory", field, pciAddress, message }] }];
    }
    return [{ wanted: [{ argument: "pci=realloc", field, pciAddress, why }], problems: [] }];
  });
}

function lacksMemory({ numVfs = 0, externallyManaged }: InterfaceSpec, pf: InterfaceStatus): boolean {
  if (externallyManaged === true || pf.numVfsWithoutMemory === undefined) return false;
  return numVfs > (pf.numVfs ?? 0) && numVfs >= pf.numVfsWithoutMemory;
}

/** The values of an argument, which can occur several times and contain commas: ["on", "sm_on"] for "intel_iommu=on,sm_on". */
function valuesOf(present: readonly string[], name: string): readonly string[] {
  return present
    .filter((argument) => argument.startsWith(`${name}=`))
    .flatMap((argument) => argument.slice(name.length + 1).split(","));
}
