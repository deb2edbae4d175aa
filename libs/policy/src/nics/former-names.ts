// SPDX-License-Identifier: Apache-2.0
/**
 * withFormerNames adds the names that a PF had when Switchyard configured it. Policies still select the PF by these
 * names while its network interface is renamed, re-initialized or in a pod's network namespace. Otherwise such a PF
 * would lose its VFs.
 * Usage: `withFormerNames(interfaces).filter((nic) => isNameOf("ens1f0", nic))`.
 */
import type { NamedNic } from "./nic-selector.ts";

interface Recorded extends NamedNic {
  readonly recordedNames?: readonly string[];
}

/**
 * Returns the PFs in the same order, with their recorded names added to altNames. A PF that has no name now gets its
 * first recorded name as name. A recorded name that another PF has now is omitted.
 */
export function withFormerNames<Nic extends Recorded>(interfaces: readonly Nic[]): readonly Nic[] {
  if (!interfaces.some(({ recordedNames }) => recordedNames !== undefined)) return interfaces;
  const current = new Set(interfaces.flatMap(({ name, altNames = [] }) => [name, ...altNames]));
  return interfaces.map((nic) => {
    const former = (nic.recordedNames ?? []).filter((name) => name !== "" && !current.has(name));
    if (former.length === 0) return nic;
    const { name = former[0] ?? "", altNames = [] } = nic;
    return { ...nic, name: name === "" ? (former[0] ?? "") : name, altNames: [...altNames, ...former] };
  });
}
