// SPDX-License-Identifier: Apache-2.0
/**
 * Decides which steps cannot run after another step failed. All other steps continue: for example, the VFs of a PF are
 * created although its MTU was refused (sriov-operator.md M-32).
 */
import { isNeededBy, isPfStep, type PfStep, type Step } from "./step.ts";

/** Reports whether `step` needs the result of `failed`. */
export function isBlockedBy(step: Step, failed: Step): boolean {
  if (!isPfStep(step)) return false;
  if (!isPfStep(failed)) return failed.kind === "load-module" && needsModule(step, failed.module);
  return step.pciAddress === failed.pciAddress && isNeededBy(failed, step);
}

function needsModule(step: PfStep, module: string): boolean {
  return step.kind === "bind-driver" && step.to === module;
}
