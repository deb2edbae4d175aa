// SPDX-License-Identifier: Apache-2.0
/**
 * vfsToDrain returns the VFs that a plan takes from pods or interrupts. Only the pods that have them must leave before the steps.
 * planWithout returns what can be done before these pods have left. Both are pure functions.
 * Usage: `vfsToDrain(plan(spec, status, owned), status)` is `new Map([["0000:3b:00.0", "all"]])`.
 */
import type { SriovNetworkNodeStateStatus } from "@switchyard/api";
import { addVfs, type VfSet } from "@switchyard/policy";
import type { Plan } from "./plan.ts";
import type { AnyPfStep } from "./steps/step-kind.ts";
import { isBlockedBy } from "./steps/blocked-by.ts";
import { disruptionOf, disruptsNode, isPfStep } from "./steps/step.ts";

/**
 * Returns undefined if the plan disrupts no pods, or all that use VFs: by a reboot, or by a restart of Open vSwitch. The reset of a card
 * is about all of its ports.
 */
export function vfsToDrain(
  { steps, impact }: Pick<Plan, "steps" | "impact">,
  observed: Pick<SriovNetworkNodeStateStatus, "interfaces">,
): VfSet | undefined {
  if (impact !== "drain" || steps.some((step) => disruptsNode(step, observed))) return undefined;
  const pfs = new Map((observed.interfaces ?? []).map((pf) => [pf.pciAddress, pf]));
  const vfs = new Map<string, ReadonlySet<number> | "all">();
  for (const step of steps) {
    if (step.kind === "reset-firmware") for (const port of step.ports) addVfs(vfs, port, "all");
    if (!isPfStep(step)) continue;
    const { pciAddress, vfId }: AnyPfStep = step;
    const pf = pfs.get(pciAddress);
    if (pf !== undefined && disruptionOf(step, pf) !== undefined) {
      addVfs(vfs, pciAddress, vfId === undefined ? "all" : [vfId]);
    }
  }
  return vfs.size === 0 ? undefined : vfs;
}

/** Returns the part of a plan that changes none of these PFs, and not the node as a whole. It must disrupt no other PF. */
export function planWithout(whole: Plan, pfs: ReadonlySet<string>): Plan {
  const ofPfs = whole.steps.filter((step) => isPfStep(step) && !pfs.has(step.pciAddress));
  const ofNode = whole.steps.filter((step) => !isPfStep(step) && ofPfs.some((other) => isBlockedBy(other, step)));
  return { ...whole, steps: [...ofNode, ...ofPfs], impact: "none", reasons: [] };
}
