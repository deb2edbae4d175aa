// SPDX-License-Identifier: Apache-2.0
/**
 * The PFs in the status of a node state, at most as many as a machine can have. Each node writes its own status, so a
 * compromised one can write anything; merging and planning for it must not delay the other nodes.
 * Usage: `const interfaces = statusPfs(state.status);`
 */
import type { InterfaceStatus, SriovNetworkNodeStateStatus } from "@switchyard/api";

/** Machines have dozens. The first ones count, as the daemon lists them by PCI address. */
export const maxPfs = 1024;

export function statusPfs(status: SriovNetworkNodeStateStatus | undefined): readonly InterfaceStatus[] {
  const pfs = status?.interfaces ?? [];
  return pfs.length <= maxPfs ? pfs : pfs.slice(0, maxPfs);
}
