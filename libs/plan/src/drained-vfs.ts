// SPDX-License-Identifier: Apache-2.0
/**
 * vfsToDrain returns the VFs that a plan takes from pods or interrupts. Only the pods that have them must leave before the steps. It is
 * a pure function.
 * Usage: `vfsToDrain(plan(spec, status, owned), status)` is `new Map([["0000:3b:00.0", "all"]])`.
 */
import type { SriovNetworkNodeStateStatus } from "@switchyard/api";
import { addVfs, type VfSet } from "@switchyard/policy";
import type { Plan } from "./plan.ts";
import type { AnyPfStep } from "./steps/step-kind.ts";
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
