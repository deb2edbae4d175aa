// SPDX-License-Identifier: Apache-2.0
/**
 * StepKind is what the plan knows about one kind of step. Each kind has a file in this folder with its data and its StepKind;
 * step.ts lists them all. apps/config-daemon/src/steps has the file that runs the step.
 */
import type { InterfaceStatus } from "@switchyard/api";

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

/** A kind of step that changes one PF or its VFs. */
export interface PfStepKind<OneStep> extends StepKind<OneStep> {
  /** Returns why the step takes a VF away from a pod or interrupts it; undefined if it disrupts no pod. */
  disruption(step: OneStep, pf: InterfaceStatus): Disruption | undefined;
  /** Reports whether `other`, a later step of the same PF, needs the result of the step. release-pf needs all results. */
  isNeededBy(step: OneStep, other: AnyPfStep): boolean;
}

/** For a step that disrupts no pod. */
export const disruptsNothing = (): undefined => undefined;

/** For a step whose result no other step needs. */
export const isNeededByNone = (): boolean => false;

/** "the existing VF", "the 8 existing VFs". */
export function existingVfs(count: number): string {
  return count === 1 ? "the existing VF" : `the ${count} existing VFs`;
}

/** "VF 3 of 0000:3b:00.0". */
export function vfOf(step: { readonly pciAddress: string; readonly vfId: number }): string {
  return `VF ${step.vfId} of ${step.pciAddress}`;
}
