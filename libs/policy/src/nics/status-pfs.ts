// SPDX-License-Identifier: Apache-2.0
/**
 * statusPfs returns the PFs in the status of a node state, limited to the number that a machine can have. Each node
 * writes its own status, so a compromised node can write any content. The limit keeps it from delaying the other nodes.
 * Usage: `const interfaces = statusPfs(state.status);`
 */
import type { InterfaceStatus, SriovNetworkNodeState, SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { NamedNic } from "./nic-selector.ts";

/** Maximum number of PFs of a node. Real machines have dozens. */
export const maxPfs = 1024;

/** Returns the first maxPfs PFs of the status, which the daemon lists by PCI address. */
export function statusPfs(status: SriovNetworkNodeStateStatus | undefined): readonly InterfaceStatus[] {
  const pfs = status?.interfaces ?? [];
  return pfs.length <= maxPfs ? pfs : pfs.slice(0, maxPfs);
}

/**
 * withOwnership completes a status that upstream's daemon wrote. That daemon records on the host which PFs it
 * configured, as Switchyard's does, but does not report it.
 * Returns the status. If upstream's daemon wrote it, the PFs in the stored spec are marked as owned.
 */
export function withOwnership({
  spec = {},
  status = {},
}: Pick<SriovNetworkNodeState, "spec" | "status">): SriovNetworkNodeStateStatus {
  const { interfaces, observedGeneration } = status;
  // Only Switchyard's daemon reports observedGeneration.
  if (interfaces === undefined || observedGeneration !== undefined) return status;
  const configured = new Set((spec.interfaces ?? []).map(({ pciAddress }) => pciAddress));
  return {
    ...status,
    interfaces: interfaces.map((pf) => (configured.has(pf.pciAddress) ? { ...pf, owned: true } : pf)),
  };
}

interface Recorded extends NamedNic {
  readonly recordedNames?: readonly string[];
}

/**
 * withFormerNames adds the names that a PF had when Switchyard configured it. Policies still select the PF by these
 * names while its network interface is renamed, re-initialized or in a pod's network namespace. Otherwise such a PF
 * would lose its VFs.
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
