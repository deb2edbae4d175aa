// SPDX-License-Identifier: Apache-2.0
/**
 * Lists the kinds of steps of a plan. Steps are plain data. A step names a VF by its PF and index, because most VFs do not
 * exist when the plan is made.
 * Usage: `plan(spec, status, owned).steps.map(describeStep)`.
 */
import type { InterfaceStatus } from "@switchyard/api";
import { kernelSteps } from "./kernel.ts";
import { firmwareSteps } from "./firmware.ts";
import { hostOvsSteps } from "./host-ovs.ts";
import { rdmaSteps } from "./rdma.ts";
import { vfSteps } from "./vfs.ts";
import { portSteps } from "./pf.ts";
import { ovsBridgeSteps } from "./ovs-bridges.ts";
import { eswitchSteps } from "./eswitch.ts";
import { linuxBridgeSteps } from "./linux-bridges.ts";
import { vdpaSteps } from "./vdpa.ts";
import type { AnyPfStep, Disruption, NodeStepKind, ObservedPfs, PfStepKind, StepKind } from "./step-kind.ts";

/** The steps that change the whole node. They run before the steps of PFs, except for "reboot". */
const allNodeSteps = { ...kernelSteps, ...firmwareSteps, ...hostOvsSteps, ...rdmaSteps };

/** The steps that change one PF or its VFs. `pciAddress` is the address of the PF. */
const allPfSteps = { ...vfSteps, ...portSteps, ...ovsBridgeSteps, ...eswitchSteps, ...linuxBridgeSteps, ...vdpaSteps };

/** The data of each kind of step by its name. */
type DataOf<Kinds> = {
  readonly [Name in keyof Kinds]: Kinds[Name] extends StepKind<infer Data> ? Data : never;
};

type NodeStepKinds = DataOf<typeof allNodeSteps>;

type PfStepKinds = DataOf<typeof allPfSteps>;

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

const nodeSteps: { readonly [Name in keyof NodeStepKinds]: NodeStepKind<NodeStepKinds[Name]> } = allNodeSteps;

const pfSteps: { readonly [Name in keyof PfStepKinds]: PfStepKind<PfStepKinds[Name]> } = allPfSteps;

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
  if (!isPfStep(step)) return undefined;
  const changed = changedByPfStep(step);
  const { pciAddress, vfId }: AnyPfStep = step;
  if (changed === "none") return undefined;
  return { pciAddress, vfId: changed === "its own" && vfId !== undefined ? vfId : "all" };
}

function changedByPfStep<Name extends PfStep["kind"]>(step: PfStep<Name>): "all" | "its own" | "none" {
  return pfSteps[step.kind].changedVfs(step);
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
