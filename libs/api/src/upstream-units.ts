// SPDX-License-Identifier: Apache-2.0
/**
 * The systemd units of upstream's systemd mode, which are on hosts and, on OpenShift, in a MachineConfig
 * (sriov-operator.md F.7, F.11).
 * Usage: `isUpstreamUnit("sriov-config.service", text)`.
 */

/** Before and after the network is up. */
export const upstreamUnits = ["sriov-config.service", "sriov-config-post-network.service"] as const;

/** What both of them start. */
export const upstreamUnitProgram = "/var/lib/sriov/sriov-network-config-daemon";

/** Whether the unit is upstream's: by its name, and because it starts upstream's program and no other. */
export function isUpstreamUnit(name: string, text: string): boolean {
  const names: readonly string[] = upstreamUnits;
  const started = [...text.matchAll(/^Exec\w+=(.*)$/gm)].map(([, command = ""]) => command.trim().split(/\s+/));
  return (
    names.includes(name) &&
    started.length > 0 &&
    started.every(([program, ...args]) => program === upstreamUnitProgram && args.includes("service"))
  );
}
