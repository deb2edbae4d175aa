// SPDX-License-Identifier: Apache-2.0
import type { NodePlan } from "../cluster/plan-cluster.ts";

export type StepSign = "+" | "~" | "-";

/** What a step does in the manner of `terraform plan`. set-num-vfs and bind-driver depend on the previous value. */
export function signOf(step: NodePlan["steps"][number]): StepSign {
  if (step.kind === "set-num-vfs") return step.from === 0 ? "+" : step.to === 0 ? "-" : "~";
  if (step.kind === "bind-driver") return step.from === undefined ? "+" : "~";
  if (/^(create|add|load|install|write)-/.test(step.kind)) return "+";
  return /^(release|delete|remove)-/.test(step.kind) ? "-" : "~";
}
