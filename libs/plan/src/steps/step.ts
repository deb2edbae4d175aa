// SPDX-License-Identifier: Apache-2.0
/**
 * Lists the kinds of steps of a plan. Steps are plain data. A step names a VF by its PF and index, because most VFs do not
 * exist when the plan is made.
 * Usage: `plan(spec, status, owned).steps.map(describeStep)`.
 */
import type { InterfaceStatus } from "@switchyard/api";
import { addVdpaDevice, removeVdpaDevice, type AddVdpaDevice, type RemoveVdpaDevice } from "./vdpa.ts";
import {
  bindDriver,
  setNumVfs,
  setVfGuid,
  setVfMac,
  setVfMtu,
  type BindDriver,
  type SetNumVfs,
  type SetVfGuid,
  type SetVfMac,
  type SetVfMtu,
} from "./vfs.ts";
import {
  enableNoIommu,
  forgetReboots,
  loadModule,
  reboot,
  setKernelArguments,
  type EnableNoIommu,
  type ForgetReboots,
  type LoadModule,
  type Reboot,
  type SetKernelArguments,
} from "./kernel.ts";
import {
  resetFirmware,
  setCardMode,
  setFirmware,
  type ResetFirmware,
  type SetCardMode,
  type SetFirmware,
} from "./firmware.ts";
import {
  removeOvsBridge,
  removeOvsPorts,
  setOvsBridge,
  type RemoveOvsBridge,
  type RemoveOvsPorts,
  type SetOvsBridge,
} from "./ovs-bridges.ts";
import {
  restartOvs,
  setHostOvs,
  setOvsOffload,
  type RestartOvs,
  type SetHostOvs,
  type SetOvsOffload,
} from "./host-ovs.ts";
import { releasePf, setLinkUp, setPfMtu, type ReleasePf, type SetLinkUp, type SetPfMtu } from "./pf.ts";
import {
  prepareSwitchdev,
  setEswitchMode,
  setFlowSteering,
  type PrepareSwitchdev,
  type SetEswitchMode,
  type SetFlowSteering,
} from "./eswitch.ts";
import { removeLinuxBridge, setLinuxBridge, type RemoveLinuxBridge, type SetLinuxBridge } from "./linux-bridges.ts";
import { setPersistentRdmaMode, setRdmaMode, type SetPersistentRdmaMode, type SetRdmaMode } from "./rdma.ts";
import type { AnyPfStep, Disruption, NodeStepKind, ObservedPfs, PfStepKind } from "./step-kind.ts";

/** The steps that change the whole node, by the name of their kind. They run before the steps of PFs, except for "reboot". */
interface NodeStepKinds {
  readonly "enable-no-iommu": EnableNoIommu;
  readonly "load-module": LoadModule;
  readonly "set-ovs-offload": SetOvsOffload;
  readonly "restart-ovs": RestartOvs;
  readonly "set-persistent-rdma-mode": SetPersistentRdmaMode;
  readonly "set-rdma-mode": SetRdmaMode;
  readonly "set-card-mode": SetCardMode;
  readonly "set-firmware": SetFirmware;
  readonly "reset-firmware": ResetFirmware;
  readonly "set-host-ovs": SetHostOvs;
  readonly "set-kernel-arguments": SetKernelArguments;
  readonly "forget-reboots": ForgetReboots;
  readonly reboot: Reboot;
}

/** The steps that change one PF or its VFs, by the name of their kind. `pciAddress` is the address of the PF. */
interface PfStepKinds {
  readonly "set-pf-mtu": SetPfMtu;
  readonly "set-link-up": SetLinkUp;
  readonly "prepare-switchdev": PrepareSwitchdev;
  readonly "set-flow-steering": SetFlowSteering;
  readonly "set-num-vfs": SetNumVfs;
  readonly "set-eswitch-mode": SetEswitchMode;
  readonly "bind-driver": BindDriver;
  readonly "set-vf-guid": SetVfGuid;
  readonly "set-vf-mac": SetVfMac;
  readonly "set-vf-mtu": SetVfMtu;
  readonly "set-ovs-bridge": SetOvsBridge;
  readonly "remove-ovs-bridge": RemoveOvsBridge;
  readonly "remove-ovs-ports": RemoveOvsPorts;
  readonly "set-linux-bridge": SetLinuxBridge;
  readonly "remove-linux-bridge": RemoveLinuxBridge;
  readonly "add-vdpa-device": AddVdpaDevice;
  readonly "remove-vdpa-device": RemoveVdpaDevice;
  readonly "release-pf": ReleasePf;
}

/** A step of the whole node; `NodeStep<"load-module">` is LoadModule. */
export type NodeStep<Name extends keyof NodeStepKinds = keyof NodeStepKinds> = {
  [Each in Name]: { readonly kind: Each } & NodeStepKinds[Each];
}[Name];

/** A step of one PF; `PfStep<"set-num-vfs">` is SetNumVfs. */
export type PfStep<Name extends keyof PfStepKinds = keyof PfStepKinds> = {
  [Each in Name]: { readonly kind: Each } & PfStepKinds[Each];
}[Name];

/** One change on the host. */
export type Step = NodeStep | PfStep;

const nodeSteps: { readonly [Name in NodeStep["kind"]]: NodeStepKind<NodeStepKinds[Name]> } = {
  "enable-no-iommu": enableNoIommu,
  "load-module": loadModule,
  "set-ovs-offload": setOvsOffload,
  "restart-ovs": restartOvs,
  "set-persistent-rdma-mode": setPersistentRdmaMode,
  "set-rdma-mode": setRdmaMode,
  "set-card-mode": setCardMode,
  "set-firmware": setFirmware,
  "reset-firmware": resetFirmware,
  "set-host-ovs": setHostOvs,
  "set-kernel-arguments": setKernelArguments,
  "forget-reboots": forgetReboots,
  reboot,
};

const pfSteps: { readonly [Name in PfStep["kind"]]: PfStepKind<PfStepKinds[Name]> } = {
  "set-pf-mtu": setPfMtu,
  "set-link-up": setLinkUp,
  "prepare-switchdev": prepareSwitchdev,
  "set-flow-steering": setFlowSteering,
  "set-num-vfs": setNumVfs,
  "set-eswitch-mode": setEswitchMode,
  "bind-driver": bindDriver,
  "set-vf-guid": setVfGuid,
  "set-vf-mac": setVfMac,
  "set-vf-mtu": setVfMtu,
  "set-ovs-bridge": setOvsBridge,
  "remove-ovs-bridge": removeOvsBridge,
  "remove-ovs-ports": removeOvsPorts,
  "set-linux-bridge": setLinuxBridge,
  "remove-linux-bridge": removeLinuxBridge,
  "add-vdpa-device": addVdpaDevice,
  "remove-vdpa-device": removeVdpaDevice,
  "release-pf": releasePf,
};

export function isPfStep(step: Step): step is PfStep {
  return "pciAddress" in step;
}

/** Returns the step as text: "set sriov_numvfs 0 -> 8 on 0000:3b:00.0". */
export function describeStep(step: Step): string {
  return isPfStep(step) ? describePfStep(step) : describeNodeStep(step);
}

function describeNodeStep<Name extends NodeStep["kind"]>(step: NodeStep<Name>): string {
  return nodeSteps[step.kind].describe(step);
}

function describePfStep<Name extends PfStep["kind"]>(step: PfStep<Name>): string {
  return pfSteps[step.kind].describe(step);
}

/** Returns why the step disrupts pods that use VFs of `pf`; undefined if it does not. */
export function disruptionOf<Name extends PfStep["kind"]>(
  step: PfStep<Name>,
  pf: InterfaceStatus,
): Disruption | undefined {
  return pfSteps[step.kind].disruption(step, pf);
}

/**
 * Reports whether the step changes the whole node, so that a refusal of it is one of the node. The other steps of nodes are needed
 * by PFs, for which a refusal is remembered.
 */
export function isOfNode(step: Step): step is NodeStep {
  return !isPfStep(step) && nodeSteps[step.kind].refusedFor === "node";
}

/** Reports whether a step of the whole node disrupts pods, for isOfNode(step). Steps of PFs and cards have disruptionOf(). */
export function disruptsNode(step: Step, observed: ObservedPfs): boolean {
  return isOfNode(step) && nodeStepDisrupts(step, observed);
}

function nodeStepDisrupts<Name extends NodeStep["kind"]>(step: NodeStep<Name>, observed: ObservedPfs): boolean {
  return nodeSteps[step.kind].disrupts(step, observed);
}

/** VFs that a step creates again or binds to a driver: one, or all of the PF. */
export interface ChangedVfs {
  readonly pciAddress: string;
  readonly vfId: number | "all";
}

/** Returns the VFs that the step creates again or binds to a driver; undefined if all stay as they are. */
export function changedVfs(step: Step): ChangedVfs | undefined {
  return isPfStep(step) ? changedByPfStep(step) : undefined;
}

function changedByPfStep<Name extends PfStep["kind"]>(step: PfStep<Name>): ChangedVfs | undefined {
  const changed = pfSteps[step.kind].changedVfs(step);
  const { pciAddress, vfId }: AnyPfStep = step;
  if (changed === "none") return undefined;
  return { pciAddress, vfId: changed === "its own" && vfId !== undefined ? vfId : "all" };
}

/** Returns the step in a few words, without the PF: "8 -> 16 VFs". Undefined if it is of no interest to users. */
export function summaryOf<Name extends PfStep["kind"]>(step: PfStep<Name>): string | undefined {
  const kind = pfSteps[step.kind];
  return kind.summary === undefined ? kind.describe(step) : kind.summary(step);
}

/** The names of all kinds of steps. */
export const stepKinds: readonly string[] = [...Object.keys(nodeSteps), ...Object.keys(pfSteps)];

/** Reports whether `other`, a step of the same PF, needs the result of `step`. */
export function isNeededBy<Name extends PfStep["kind"]>(step: PfStep<Name>, other: AnyPfStep): boolean {
  return other.kind === "release-pf" || pfSteps[step.kind].isNeededBy(step, other);
}
