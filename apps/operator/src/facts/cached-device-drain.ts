// SPDX-License-Identifier: Apache-2.0
/**
 * CachedDeviceDrain is a request of a config daemon that is about single VFs of its node (annotations.drainVfs), with the pods that have
 * them. The VFs of a node state are not cached, so this is computed when a state arrives, and only while there is such a request.
 */
import { annotations, defined, type SriovNetworkNodeState, type SriovNetworkNodeStateStatus } from "@switchyard/api";
import { drainedVfs, holdersOf, type VfHolderPod } from "@switchyard/policy";

export interface CachedDeviceDrain {
  /** Value of annotations.drainVfs. */
  readonly vfs: string;
  /** PCI addresses of the PFs, sorted. */
  readonly pfs: readonly string[];
  /** The pods that have the VFs, each once. */
  readonly holders: readonly VfHolderPod[];
  /** Why it is not known of each VF which pod has it; absent if it is known. */
  readonly unknown?: string;
}

/** Returns undefined if the state has no valid annotation. */
export function toCachedDeviceDrain(
  { metadata }: Pick<SriovNetworkNodeState, "metadata">,
  status: SriovNetworkNodeStateStatus,
): CachedDeviceDrain | undefined {
  const set = drainedVfs({ metadata });
  if (set === undefined) return undefined;
  const vfs = metadata.annotations?.[annotations.drainVfs] ?? "";
  const { holders, unknown } = holdersOf(status, set);
  return { vfs, pfs: [...set.keys()].sort(), holders, ...defined({ unknown }) };
}
