// SPDX-License-Identifier: Apache-2.0
/**
 * What a plan does to one PF, in a few words: "8 -> 16 VFs, mtu 1500 -> 9000".
 * Usage: `describePfSteps(steps, reasons)`.
 */
import { describeStep, type Reason, type Step } from "@switchyard/plan";
import { count } from "./phrase.ts";

/** Steps and reasons of one PF. Without any, only who gets its VFs changes. */
export function describePfSteps(steps: readonly Step[], reasons: readonly Reason[]): string {
  const words: string[] = [];
  const boundTo = new Map<string, number>();
  const settings = new Set<string>();
  for (const step of steps) {
    switch (step.kind) {
      case "set-num-vfs":
        words.push(`${step.from} -> ${step.to} VFs`);
        break;
      case "set-pf-mtu":
        words.push(`mtu ${step.from} -> ${step.to}`);
        break;
      case "bind-driver": {
        const driver = step.to === "default" ? "their kernel driver" : step.to;
        boundTo.set(driver, (boundTo.get(driver) ?? 0) + 1);
        break;
      }
      case "set-vf-mtu":
        settings.add(`VF mtu ${step.to}`);
        break;
      case "set-vf-mac":
      case "release-pf":
      case "load-module":
        break; // says nothing to users
      default:
        settings.add(describeStep(step));
    }
  }
  for (const [driver, vfs] of boundTo) words.push(`${count(vfs, "VF")} bound to ${driver}`);
  words.push(...settings);
  if (words.length > 0) return words.join(", ");
  return reasons[0]?.text ?? "device assignment changes";
}
