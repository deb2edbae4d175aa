// SPDX-License-Identifier: Apache-2.0
/**
 * withOwnership completes a status that upstream's daemon wrote. That daemon records on the host which PFs it
 * configured, as Switchyard's does, but does not report it.
 * Usage: `const { interfaces = [] } = withOwnership(state);`
 */
import type { SriovNetworkNodeState, SriovNetworkNodeStateStatus } from "@switchyard/api";

/** Returns the status. If upstream's daemon wrote it, the PFs in the stored spec are marked as owned. */
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
