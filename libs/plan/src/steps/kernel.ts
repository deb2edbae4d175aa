// SPDX-License-Identifier: Apache-2.0
/** Steps that change the kernel of the node: modules, arguments, reboots. */
import { disruptsNoPod, disruptsPods, type NodeStepKind } from "./step-kind.ts";

/** Configures the arguments of the kernel in the boot loader. They take effect at the next boot. */
interface SetKernelArguments {
  readonly kind: "set-kernel-arguments";
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

const setKernelArguments: NodeStepKind<SetKernelArguments> = {
  describe({ add, remove }) {
    const parts = [
      ...(add.length > 0 ? [`add ${add.join(" ")}`] : []),
      ...(remove.length > 0 ? [`remove ${remove.join(" ")}`] : []),
    ];
    return `change kernel arguments of the next boot: ${parts.join(", ")}`;
  },
  disrupts: disruptsNoPod,
  refusedFor: "node",
};

/** Loads a kernel module, such as vfio-pci. */
export interface LoadModule {
  readonly kind: "load-module";
  readonly module: string;
}

const loadModule: NodeStepKind<LoadModule> = {
  describe: ({ module }) => `load kernel module ${module}`,
  disrupts: disruptsNoPod,
  refusedFor: "pfs",
};

/** Lets vfio-pci bind cards of a machine without an IOMMU. It changes nothing on a machine with an IOMMU. */
export interface EnableNoIommu {
  readonly kind: "enable-no-iommu";
}

const enableNoIommu: NodeStepKind<EnableNoIommu> = {
  describe: () => "set enable_unsafe_noiommu_mode of vfio, if there is no IOMMU",
  disrupts: disruptsNoPod,
  refusedFor: "pfs",
};

/** Reboots the node. It runs after all other steps. */
interface Reboot {
  readonly kind: "reboot";
  /** Ids of the causes. */
  readonly causes: readonly string[];
  /** Whether a change waits for the reboot already. Otherwise a failure of another step prevents the reboot. */
  readonly isPending: boolean;
}

const reboot: NodeStepKind<Reboot> = {
  describe: ({ causes }) => `reboot for ${causes.join(", ")}`,
  disrupts: disruptsPods,
  refusedFor: "node",
};

/** Removes causes from the record of the last reboot, because what they required is in effect. */
interface ForgetReboots {
  readonly kind: "forget-reboots";
  readonly causes: readonly string[];
}

const forgetReboots: NodeStepKind<ForgetReboots> = {
  describe: ({ causes }) => `forget the reboot for ${causes.join(", ")}`,
  disrupts: disruptsNoPod,
  refusedFor: "node",
};

/** The kinds of this subject by their names. */
export const kernelSteps = {
  "set-kernel-arguments": setKernelArguments,
  "load-module": loadModule,
  "enable-no-iommu": enableNoIommu,
  reboot,
  "forget-reboots": forgetReboots,
};
