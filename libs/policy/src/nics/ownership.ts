// SPDX-License-Identifier: Apache-2.0
/**
 * Whose the PFs of a node are, where the Go operator's daemon wrote the status: it has records on the host as ours has, but
 * does not report them.
 * Usage: `const { interfaces = [] } = withOwnership(state);`
 */
import type { SriovNetworkNodeState, SriovNetworkNodeStateStatus } from "@switchyard/api";

/** The status; where upstream's daemon wrote it, PFs that the stored spec configures count as owned. */
export function withOwnership({
  spec = {},
  status = {},
}: Pick<SriovNetworkNodeState, "spec" | "status">): SriovNetworkNodeStateStatus {
  const { interfaces, observedGeneration } = status;
  // Only Switchyard's daemon reports the generation that it observed.
  if (interfaces === undefined || observedGeneration !== undefined) return status;
  const configured = new Set((spec.interfaces ?? []).map(({ pciAddress }) => pciAddress));
  return {
    ...status,
    interfaces: interfaces.map((pf) => (configured.has(pf.pciAddress) ? { ...pf, owned: true } : pf)),
  };
}
