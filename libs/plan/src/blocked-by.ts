// SPDX-License-Identifier: Apache-2.0
/**
 * Decides which steps cannot run after another step failed. All other steps continue: for example, the VFs of a PF are
 * created although its MTU was refused (sriov-operator.md M-32).
 */
import type { Step } from "./step.ts";

/** Reports whether `step` needs the result of `failed`. */
export function isBlockedBy(step: Step, failed: Step): boolean {
  if (step.kind === "load-module") return false;
  if (failed.kind === "load-module") return step.kind === "bind-driver" && step.to === failed.module;
  if (step.pciAddress !== failed.pciAddress) return false;
  if (step.kind === "release-pf") return true;
  switch (failed.kind) {
    case "set-num-vfs":
      return "vfId" in step;
    case "bind-driver":
      return "vfId" in step && step.vfId === failed.vfId;
    case "set-pf-mtu":
      return step.kind === "set-vf-mtu";
    case "set-link-up":
    case "set-vf-mac":
    case "set-vf-mtu":
    case "release-pf":
      return false;
  }
}
