// SPDX-License-Identifier: Apache-2.0
/**
 * The systemd units of upstream's systemd mode, which upstream installs on hosts and, on OpenShift, in a MachineConfig
 * (sriov-operator.md F.7, F.11).
 * Usage: `isUpstreamUnit("sriov-config.service", text)`.
 */

/** Names of the units: the first runs before, the second after the network is up. */
export const upstreamUnits = ["sriov-config.service", "sriov-config-post-network.service"] as const;

/** The program that both units start. */
export const upstreamUnitProgram = "/var/lib/sriov/sriov-network-config-daemon";

/** Reports whether the unit has one of upstream's names, starts upstream's program, and starts no other program. */
export function isUpstreamUnit(name: string, text: string): boolean {
  const names: readonly string[] = upstreamUnits;
  const started = [...text.matchAll(/^Exec\w+=(.*)$/gm)].map(([, command = ""]) => command.trim().split(/\s+/));
  return (
    names.includes(name) &&
    started.length > 0 &&
    started.every(([program, ...args]) => program === upstreamUnitProgram && args.includes("service"))
  );
}
