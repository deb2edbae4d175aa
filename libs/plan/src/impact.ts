// SPDX-License-Identifier: Apache-2.0
/**
 * Reports which steps of a PF disrupt pods, and why. Only a step that takes a VF away from a pod, or interrupts it, needs a
 * drain.
 * Usage: `reasonsToDrain(steps, pf, fieldsOfInterface(0))`.
 */
import { drainRequests, type DrainNeed, type InterfaceStatus } from "@switchyard/api";
import type { Cause } from "./steps/step-kind.ts";
import { disruptionOf, type PfStep } from "./steps/step.ts";

/** What a plan does to the pods of the node, from harmless to most disruptive. */
export type Impact = "none" | "drain" | "reboot";

/** The drain that the config daemon requests before it runs such a plan, while drains are enabled. */
export function drainNeedOf(impact: Impact): DrainNeed | undefined {
  if (impact === "none") return undefined;
  return impact === "reboot" ? drainRequests.reboot : drainRequests.drain;
}

/** Why a plan has its impact. */
export interface Reason {
  /** Field of the NodeState that causes it: "spec.interfaces[0].numVfs", or "spec.unselected" for a PF that no policy selects. */
  readonly field: string;
  /** Absent for a reason that does not belong to a PF, such as a kernel argument. */
  readonly pciAddress?: string;
  /** A sentence for a person. */
  readonly text: string;
}

/** Returns the path of the field that causes a step: "spec.interfaces[0].mtu". */
export type FieldOf = (cause: Cause) => string;

/** The fields of the entry at `index` of spec.interfaces. */
export function fieldsOfInterface(index: number): FieldOf {
  return (cause) => (cause === "bridge" ? "spec.bridges" : `spec.interfaces[${index}].${cause}`);
}

/** A PF that is reset has no entry in spec.interfaces: spec.unselected causes all of its steps. */
export const fieldsOfUnselected: FieldOf = () => "spec.unselected";

/** The field of the bridge of a PF that has no entry in spec.interfaces. */
export const fieldsOfBridge: FieldOf = () => "spec.bridges";

/** Returns one reason for each field of a PF: sixteen VFs that change their driver have one cause. */
export function reasonsToDrain(steps: readonly PfStep[], pf: InterfaceStatus, fieldOf: FieldOf): readonly Reason[] {
  const { pciAddress } = pf;
  const byField = new Map<string, Reason>();
  for (const step of steps) {
    const disruption = disruptionOf(step, pf);
    if (disruption === undefined) continue;
    const field = fieldOf(disruption.cause);
    if (!byField.has(field)) byField.set(field, { field, pciAddress, text: `${pciAddress}: ${disruption.text}` });
  }
  return [...byField.values()];
}
