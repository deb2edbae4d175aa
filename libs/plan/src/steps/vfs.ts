// SPDX-License-Identifier: Apache-2.0
/** Steps that create, bind and configure VFs. */
import {
  changesAllVfs,
  changesIfRebound,
  changesNoVf,
  disruptsNothing,
  existingVfs,
  isNeededByNone,
  isOfNoInterest,
  vfOf,
  type PfStepKind,
} from "./step-kind.ts";

/** Creates or removes VFs. A change between two non-zero numbers removes all VFs first, because the kernel requires it. */
interface SetNumVfs {
  readonly kind: "set-num-vfs";
  readonly pciAddress: string;
  readonly from: number;
  readonly to: number;
  /** Number of VFs that an earlier step of the same plan removes, and that a refusal must leave behind; absent if there is none. */
  readonly restoreNumVfs?: number;
}

const setNumVfs: PfStepKind<SetNumVfs> = {
  describe: ({ pciAddress, from, to }) => `set sriov_numvfs ${from} -> ${to} on ${pciAddress}`,
  // Creating the first VFs of a PF disrupts no pod (sriov-operator.md F.5).
  disruption({ from, to }) {
    if (from === 0) return undefined;
    return { cause: "numVfs", text: `changing numVfs from ${from} to ${to} removes ${existingVfs(from)}` };
  },
  isNeededBy: (_step, { kind, vfId }) => vfId !== undefined || dependents.has(kind),
  changedVfs: changesAllVfs,
  summary: ({ from, to }) => `${from} -> ${to} VFs`,
};

/** Steps of the same PF that must not run if the PF does not have the number of VFs. */
const dependents: ReadonlySet<string> = new Set(["set-num-vfs", "set-flow-steering", "set-eswitch-mode"]);

/** Binds a VF to a driver. */
interface BindDriver {
  readonly kind: "bind-driver";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Present driver; absent if the VF has none or does not exist yet. */
  readonly from?: string;
  /** Name of a driver, or "default" for the driver that the kernel chooses. */
  readonly to: string;
  /** Whether the VF is the PF itself: the card of a virtual machine, which the hypervisor has passed to it. */
  readonly isPf?: boolean;
  /** No pod has the VF, which has no network interface: its present driver is bound again. */
  readonly isAgain?: true;
}

const bindDriver: PfStepKind<BindDriver> = {
  describe: (step) =>
    `bind ${vfOf(step)} to ${nameOf(step)}${step.isAgain === true ? " again" : ""}${step.from === undefined ? "" : ` (from ${step.from})`}`,
  disruption(step) {
    if (step.from === undefined || step.isAgain === true) return undefined;
    return { cause: "vfGroups", text: `VF ${step.vfId} changes its driver from ${step.from} to ${nameOf(step)}` };
  },
  isNeededBy: (step, { vfId }) => vfId === step.vfId,
  changedVfs: () => "its own",
  summary: (step) => `bound to ${step.to === "default" ? "their kernel driver" : step.to}`,
};

function nameOf({ to }: BindDriver): string {
  return to === "default" ? "its kernel driver" : to;
}

/**
 * Sets the node GUID and the port GUID of an InfiniBand VF: the GUID that the administrator's file has for the VF, or one that
 * Switchyard generated and recorded.
 */
interface SetVfGuid {
  readonly kind: "set-vf-guid";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Unbind and bind the driver afterwards: an RDMA device gets its GUID when it is created. */
  readonly rebind?: true;
}

const setVfGuid: PfStepKind<SetVfGuid> = {
  describe: (step) => `set GUID of ${vfOf(step)}`,
  disruption({ vfId, rebind }, { Vfs: vfs = [] }) {
    if (rebind !== true || !vfs.some((vf) => vf.vfID === vfId)) return undefined;
    return { cause: "vfGroups", text: `VF ${vfId} is unbound from its driver and bound again, because it gets a GUID` };
  },
  isNeededBy: isNeededByNone,
  changedVfs: changesIfRebound,
};

/** Sets the administrative MAC address of the VF to its present address, which then stays the same after a rebind. */
interface SetVfMac {
  readonly kind: "set-vf-mac";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Unbind and bind the driver afterwards: an RDMA device derives its GUID from the address when it is created. */
  readonly rebind?: true;
  /** No pod has the VF. */
  readonly isFree?: true;
}

const setVfMac: PfStepKind<SetVfMac> = {
  describe: (step) => `set administrative MAC address of ${vfOf(step)}`,
  disruption({ vfId, rebind, isFree }, { Vfs: vfs = [] }) {
    if (rebind !== true || isFree === true || !vfs.some((vf) => vf.vfID === vfId)) return undefined;
    const text = `VF ${vfId} is unbound from its driver and bound again, because its MAC address changes`;
    return { cause: "vfGroups", text };
  },
  isNeededBy: isNeededByNone,
  changedVfs: changesIfRebound,
  summary: isOfNoInterest,
};

/** Sets the MTU in bytes of a VF's interface. */
interface SetVfMtu {
  readonly kind: "set-vf-mtu";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Absent if the VF does not exist yet. */
  readonly from?: number;
  readonly to: number;
}

const setVfMtu: PfStepKind<SetVfMtu> = {
  describe: (step) => `set mtu ${step.from === undefined ? "" : `${step.from} -> `}${step.to} on ${vfOf(step)}`,
  disruption: disruptsNothing, // no pod uses a VF whose network interface is visible on the host
  isNeededBy: isNeededByNone,
  changedVfs: changesNoVf,
  summary: ({ to }) => `VF mtu ${to}`,
};

/** Resets the settings of a VF that a past pod has left to those of the new VF. Nothing is changed if a pod has the VF by now. */
interface ResetVf {
  readonly kind: "reset-vf";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Names of the settings: "trust", "Vlan". */
  readonly settings: readonly string[];
}

const resetVf: PfStepKind<ResetVf> = {
  describe: (step) => `reset ${step.settings.join(", ")} of ${vfOf(step)}`,
  disruption: disruptsNothing, // no pod has the VF
  isNeededBy: isNeededByNone,
  changedVfs: () => "its own",
  summary: isOfNoInterest,
};

/** The kinds of this subject by their names. */
export const vfSteps = {
  "set-num-vfs": setNumVfs,
  "bind-driver": bindDriver,
  "set-vf-guid": setVfGuid,
  "set-vf-mac": setVfMac,
  "set-vf-mtu": setVfMtu,
  "reset-vf": resetVf,
};
