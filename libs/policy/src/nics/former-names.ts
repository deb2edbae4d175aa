// SPDX-License-Identifier: Apache-2.0
/**
 * Names that a PF had when Switchyard configured it. Policies still mean the PF by them while its network interface is
 * renamed, re-initialised or in a pod's network namespace: that is no reason to take its VFs away.
 * Usage: `withFormerNames(state.status.interfaces).filter((nic) => isNameOf("ens1f0", nic))`.
 */
import type { InterfaceStatus } from "@switchyard/api";

/**
 * The PFs in the same order, with their recorded names among the alternative ones, and the first of them as the name of a
 * PF that has none now. A name that another PF has now is that PF's alone.
 */
export function withFormerNames(interfaces: readonly InterfaceStatus[]): readonly InterfaceStatus[] {
  if (!interfaces.some(({ recordedNames }) => recordedNames !== undefined)) return interfaces;
  const current = new Set(interfaces.flatMap(({ name, altNames = [] }) => [name, ...altNames]));
  return interfaces.map((nic) => {
    const former = (nic.recordedNames ?? []).filter((name) => name !== "" && !current.has(name));
    if (former.length === 0) return nic;
    const { name = former[0] ?? "", altNames = [] } = nic;
    return { ...nic, name: name === "" ? (former[0] ?? "") : name, altNames: [...altNames, ...former] };
  });
}
