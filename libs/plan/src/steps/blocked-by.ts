// SPDX-License-Identifier: Apache-2.0
/**
 * Decides which steps cannot run after another step failed. All other steps continue: for example, the VFs of a PF are
 * created although its MTU was refused (sriov-operator.md M-32).
 */
import { vdpaDriver } from "./vdpa.ts";
import { isNeededBy, isPfStep, type NodeStep, type Step } from "./step.ts";

/** Reports whether `step` needs the result of `failed`. */
export function isBlockedBy(step: Step, failed: Step): boolean {
  if (step.kind === "reboot") return !step.isPending;
  if (!isPfStep(failed)) return isBlockedByNodeStep(step, failed);
  return isPfStep(step) && step.pciAddress === failed.pciAddress && isNeededBy(failed, step);
}

function isBlockedByNodeStep(step: Step, failed: NodeStep): boolean {
  switch (failed.kind) {
    case "enable-no-iommu":
      return step.kind === "bind-driver" && step.to === "vfio-pci";
    case "load-module":
      if (step.kind === "add-vdpa-device") return vdpaDriver(step.to) === failed.module;
      return step.kind === "bind-driver" && step.to === failed.module;
    case "set-ovs-offload":
      return step.kind === "restart-ovs"; // it would interrupt the bridges without effect
    case "set-firmware":
      // The record of a PF has the values that a change restores.
      if (step.kind === "release-pf") return step.pciAddress.startsWith(`${failed.card}.`);
      return step.kind === "reset-firmware" && step.card === failed.card;
    default:
      return false;
  }
}
