// SPDX-License-Identifier: Apache-2.0
/**
 * Which PFs are ours to reset. The daemon knows it from its records, everybody else from the status it reports.
 * Usage: `plan(state.spec, state.status, ownedInStatus(state.status))`.
 */
import type { SriovNetworkNodeStateStatus } from "@switchyard/api";

/** What is remembered of a PF that we configured. */
export interface OwnedPf {
  /** Its VFs were made by somebody else: nothing is reset. */
  readonly externallyManaged: boolean;
  /** MTU in bytes to restore; absent where it was never changed or is not known. */
  readonly initialMtu?: number;
}

/** Owned PFs by PCI address. */
export type OwnedPfs = ReadonlyMap<string, OwnedPf>;

/** The owned PFs as the daemon reported them. */
export function ownedInStatus(status: SriovNetworkNodeStateStatus): OwnedPfs {
  const owned = new Map<string, OwnedPf>();
  for (const pf of status.interfaces ?? []) {
    if (pf.owned !== true) continue;
    owned.set(pf.pciAddress, {
      externallyManaged: pf.externallyManaged === true,
      ...(pf.initialMtu === undefined ? {} : { initialMtu: pf.initialMtu }),
    });
  }
  return owned;
}
