// SPDX-License-Identifier: Apache-2.0
/**
 * The order in which policies are applied: later ones overwrite earlier ones (sriov-operator.md B.3).
 * Usage: `inOrderOfApplication(policies)`.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";

/** Deprecated name: upstream once made this policy itself, and passes over it since. */
const ignoredName = "default";

/**
 * The policies from the weakest to the strongest: priority 99 first and 0 last, equal priorities by name, so that the
 * lowest number wins, and among equals the alphabetically last name. A policy named "default" is left out.
 */
export function inOrderOfApplication(policies: readonly SriovNetworkNodePolicy[]): readonly SriovNetworkNodePolicy[] {
  return policies.filter((policy) => policy.metadata.name !== ignoredName).sort(compareApplication);
}

/**
 * A policy's priority, 0 to 99. An absent one is 0, the strongest: clients in Go leave out a 0 that was meant, and
 * upstream reads it so (M-38). The default of 99 is the webhook's to fill in.
 */
export function priorityOf(policy: SriovNetworkNodePolicy): number {
  return policy.spec.priority ?? 0;
}

/** By code unit, for `sort`. Unlike localeCompare, the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function compareApplication(a: SriovNetworkNodePolicy, b: SriovNetworkNodePolicy): number {
  return (
    priorityOf(b) - priorityOf(a) ||
    compareText(a.metadata.name, b.metadata.name) ||
    compareText(a.metadata.namespace ?? "", b.metadata.namespace ?? "")
  );
}
