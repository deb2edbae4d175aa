// SPDX-License-Identifier: Apache-2.0
/**
 * statusPfs returns the PFs in the status of a node state, limited to the number that a machine can have. Each node
 * writes its own status, so a compromised node can write any content. The limit keeps it from delaying the other nodes.
 * Usage: `const interfaces = statusPfs(state.status);`
 */
import type { InterfaceStatus, SriovNetworkNodeStateStatus } from "@switchyard/api";

/** Maximum number of PFs of a node. Real machines have dozens. */
export const maxPfs = 1024;

/** Returns the first maxPfs PFs of the status, which the daemon lists by PCI address. */
export function statusPfs(status: SriovNetworkNodeStateStatus | undefined): readonly InterfaceStatus[] {
  const pfs = status?.interfaces ?? [];
  return pfs.length <= maxPfs ? pfs : pfs.slice(0, maxPfs);
}
