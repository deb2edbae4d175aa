// SPDX-License-Identifier: Apache-2.0
/**
 * isLastingStep tells the steps whose effect a boot keeps, or that prepare a boot. The running daemon runs them, also in
 * systemd mode. The phases of a boot do not run them: they need programs of the daemon's image, or take long.
 * Usage: `plan.steps.filter((step) => !isLastingStep(step))`.
 */
import type { Step } from "@switchyard/plan";

const kinds: ReadonlySet<Step["kind"]> = new Set<Step["kind"]>([
  ...(["set-host-ovs", "set-kernel-arguments", "forget-reboots", "reboot"] as const),
  ...(["set-card-mode", "set-firmware", "reset-firmware"] as const),
]);

export function isLastingStep({ kind }: Step): boolean {
  return kinds.has(kind);
}
