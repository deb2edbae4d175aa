// SPDX-License-Identifier: Apache-2.0
/**
 * StepKind is what the plan knows about one kind of step, and what others may ask about it. Each file in this folder has the kinds of
 * one subject with their data; step.ts joins them. The files of the same names in apps/config-daemon/src/steps run the steps.
 */
import type { InterfaceStatus, SriovNetworkNodeStateStatus } from "@switchyard/api";

/** Part of a PF's spec that causes a step. impact.ts maps it to the path of a field. */
export type Cause = "numVfs" | "mtu" | "vfGroups" | "eSwitchMode" | "linkType" | "bridge";

/** Why a step disrupts pods. */
export interface Disruption {
  readonly cause: Cause;
  /** A sentence for a person, without the address of the PF. */
  readonly text: string;
}

/** The fields that all steps of PFs have. */
export interface AnyPfStep {
  readonly kind: string;
  readonly pciAddress: string;
  readonly vfId?: number;
}

export interface StepKind<OneStep> {
  /** Returns the step as text: "set sriov_numvfs 0 -> 8 on 0000:3b:00.0". */
  describe(step: OneStep): string;
}

/** A kind of step that changes the whole node. */
export interface NodeStepKind<OneStep> extends StepKind<OneStep> {
  /** Reports whether the step disrupts pods of a node with these PFs. */
  disrupts(step: OneStep, observed: ObservedPfs): boolean;
  /**
   * What is left out of plans if the host refuses a disruptive change with this step again and again. It is the change
   * of the whole node, or that of each PF that needs the step.
   */
  readonly refusedFor: "node" | "pfs";
}

export type ObservedPfs = Pick<SriovNetworkNodeStateStatus, "interfaces">;

/** For a step of the node that disrupts no pod. */
export const disruptsNoPod = (): boolean => false;

/** For a step of the node that disrupts pods, whatever the node has. */
export const disruptsPods = (): boolean => true;

/** A kind of step that changes one PF or its VFs. */
export interface PfStepKind<OneStep> extends StepKind<OneStep> {
  /** Returns why the step takes a VF away from a pod or interrupts it; undefined if it disrupts no pod. */
  disruption(step: OneStep, pf: InterfaceStatus): Disruption | undefined;
  /** Reports whether `other`, a later step of the same PF, needs the result of the step. release-pf needs all results. */
  isNeededBy(step: OneStep, other: AnyPfStep): boolean;
  /** Returns which VFs the step creates again or binds to a driver: all of the PF, the VF of the step, or none. */
  changedVfs(step: OneStep): "all" | "its own" | "none";
  /** Returns the step in a few words, without the PF. Absent: as describe(). Undefined: the step is of no interest to users. */
  summary?(step: OneStep): string | undefined;
}

/** For a step that disrupts no pod. */
export const disruptsNothing = (): undefined => undefined;

/** For a step whose result no other step needs. */
export const isNeededByNone = (): boolean => false;

/** For a step after which the VFs are the same devices with the same drivers. */
export const changesNoVf = () => "none" as const;

/** For a step that removes all VFs of the PF, or unbinds them. */
export const changesAllVfs = () => "all" as const;

/** For a step that binds the VF again only if its device gets an identity when it is created. */
export const changesIfRebound = ({ rebind }: { readonly rebind?: true }) => (rebind === true ? "its own" : "none");

/** For a step that users do not find in the summary of a PF. */
export const isOfNoInterest = (): undefined => undefined;

/** "the existing VF", "the 8 existing VFs". */
export function existingVfs(count: number): string {
  return count === 1 ? "the existing VF" : `the ${count} existing VFs`;
}

/** "VF 3 of 0000:3b:00.0". */
export function vfOf(step: { readonly pciAddress: string; readonly vfId: number }): string {
  return `VF ${step.vfId} of ${step.pciAddress}`;
}
