// SPDX-License-Identifier: Apache-2.0
/**
 * The spec that a node's SriovNetworkNodeState gets, from what the policies make of the node.
 * Usage: `nodeStateSpec(mergePolicies(node, interfaces, rules), state)`.
 */
import type { InterfaceStatus, SriovNetworkNodeStateSpec } from "@switchyard/api";
import type { MergedNode } from "../merge/merge-policies.ts";

/** A SriovNetworkNodeState, as far as its spec depends on it. */
export interface StoredNodeState {
  readonly spec?: SriovNetworkNodeStateSpec;
  readonly status?: { readonly interfaces?: readonly InterfaceStatus[] };
}

/**
 * Never without interfaces: applying `{}` after something makes the API server store null, and refuse it (1.36).
 * Nothing can match before the daemon's first report: until then a state that is there keeps what it has.
 */
export function nodeStateSpec(merged: Pick<MergedNode, "spec">, stored?: StoredNodeState): SriovNetworkNodeStateSpec {
  const isUnknown = stored !== undefined && (stored.status?.interfaces ?? []).length === 0;
  return { interfaces: [], ...(isUnknown ? stored.spec : merged.spec) };
}
