// SPDX-License-Identifier: Apache-2.0
/** describePfSteps summarizes what a plan does to one PF, such as "8 -> 16 VFs, mtu 1500 -> 9000". */
import { isPfStep, summaryOf, type Reason, type Step } from "@switchyard/plan";

/** `steps` and `reasons` belong to one PF. Without any of them, only the resources to which the VFs belong change. */
export function describePfSteps(steps: readonly Step[], reasons: readonly Reason[]): string {
  const ofPf: string[] = [];
  const vfsByDriver = new Map<string, number>();
  const settings = new Set<string>();
  for (const step of steps) {
    const text = isPfStep(step) ? summaryOf(step) : undefined;
    if (text === undefined) continue;
    if (step.kind === "bind-driver") vfsByDriver.set(text, (vfsByDriver.get(text) ?? 0) + 1);
    else if (step.kind === "set-num-vfs" || step.kind === "set-eswitch-mode" || step.kind === "set-pf-mtu")
      ofPf.push(text);
    else settings.add(text);
  }
  const parts = [
    ...ofPf,
    ...[...vfsByDriver].map(([text, vfs]) => (vfs === 1 ? `1 VF ${text}` : `${vfs} VFs ${text}`)),
    ...settings,
  ];
  if (parts.length > 0) return parts.join(", ");
  return reasons[0]?.text ?? "device assignment changes";
}
