// SPDX-License-Identifier: Apache-2.0
/**
 * describePfSteps summarizes what a plan does to one PF, such as "8 -> 16 VFs, mtu 1500 -> 9000".
 * Usage: `describePfSteps(steps, reasons)`.
 */
import { describeStep, type Reason, type Step } from "@switchyard/plan";
import { count } from "./phrase.ts";

/** `steps` and `reasons` belong to one PF. Without any of them, only the resources to which the VFs belong change. */
export function describePfSteps(steps: readonly Step[], reasons: readonly Reason[]): string {
  const parts: string[] = [];
  const vfsByDriver = new Map<string, number>();
  const settings = new Set<string>();
  for (const step of steps) {
    switch (step.kind) {
      case "set-num-vfs":
        parts.push(`${step.from} -> ${step.to} VFs`);
        break;
      case "set-eswitch-mode":
        if (step.isTemporary !== true) parts.push(`eswitch mode ${step.from} -> ${step.to}`);
        break;
      case "set-pf-mtu":
        parts.push(`mtu ${step.from} -> ${step.to}`);
        break;
      case "bind-driver": {
        const driver = step.to === "default" ? "their kernel driver" : step.to;
        vfsByDriver.set(driver, (vfsByDriver.get(driver) ?? 0) + 1);
        break;
      }
      case "set-vf-mtu":
        settings.add(`VF mtu ${step.to}`);
        break;
      case "prepare-switchdev":
      case "set-flow-steering":
      case "set-vf-mac":
      case "release-pf":
      case "load-module":
        break; // of no interest to users
      default:
        settings.add(describeStep(step));
    }
  }
  for (const [driver, vfs] of vfsByDriver) parts.push(`${count(vfs, "VF")} bound to ${driver}`);
  parts.push(...settings);
  if (parts.length > 0) return parts.join(", ");
  return reasons[0]?.text ?? "device assignment changes";
}
