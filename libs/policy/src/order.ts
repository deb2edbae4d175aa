// SPDX-License-Identifier: Apache-2.0
/**
 * compareText is a comparison function for sorting strings.
 * Usage: `names.toSorted(compareText)`.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";

/** Compares by code unit. Unlike localeCompare, the result does not depend on the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Earlier releases of upstream created a policy of this name; it is ignored now. */
const ignoredName = "default";

/**
 * inOrderOfApplication sorts policies in the order in which they are applied. Later policies overwrite earlier ones
 * (sriov-operator.md B.3).
 * Returns the policies from the lowest to the highest priority, that is from priority 99 to priority 0, and by name
 * among equal priorities. So the lowest number wins, and among equal numbers the alphabetically last name. The policy
 * named "default" is omitted.
 */
export function inOrderOfApplication(policies: readonly SriovNetworkNodePolicy[]): readonly SriovNetworkNodePolicy[] {
  return policies.filter((policy) => policy.metadata.name !== ignoredName).sort(compareApplication);
}

/**
 * Returns a policy's priority, 0 to 99. An absent priority is 0, the highest: Go clients omit a 0, and upstream treats
 * it as 0, too (sriov-operator.md M-38). The webhook sets the default of 99 on new policies.
 */
export function priorityOf(policy: SriovNetworkNodePolicy): number {
  return policy.spec.priority ?? 0;
}

function compareApplication(a: SriovNetworkNodePolicy, b: SriovNetworkNodePolicy): number {
  return (
    priorityOf(b) - priorityOf(a) ||
    compareText(a.metadata.name, b.metadata.name) ||
    compareText(a.metadata.namespace ?? "", b.metadata.namespace ?? "")
  );
}
