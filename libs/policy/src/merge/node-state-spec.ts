// SPDX-License-Identifier: Apache-2.0
/**
 * nodeStateSpec returns the spec of a node's SriovNetworkNodeState from the merged policies of the node.
 * Usage: `nodeStateSpec(mergePolicies(node, interfaces, rules), state)`.
 */
import type {
  AfxdpNetworkNodeState,
  AfxdpNetworkNodeStateSpec,
  InterfaceStatus,
  SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import type { MergedAfxdpNode } from "../afxdp/merge-afxdp-policies.ts";
import type { MergedNode } from "./merge-policies.ts";

/** The parts of a SriovNetworkNodeState that its next spec depends on. */
export interface StoredNodeState {
  readonly spec?: SriovNetworkNodeStateSpec;
  readonly status?: { readonly interfaces?: readonly InterfaceStatus[] };
}

/**
 * Returns the spec to apply. Before the daemon's first report no policy can match a PF, so a stored state keeps its
 * spec, except for the allocation, which does not depend on PFs.
 *
 * The result always has `interfaces`: if `{}` is applied after a spec with fields, the API server stores null for the
 * spec and then rejects the object (kube-apiserver 1.36).
 */
export function nodeStateSpec(merged: Pick<MergedNode, "spec">, stored?: StoredNodeState): SriovNetworkNodeStateSpec {
  const isUnknown = stored !== undefined && (stored.status?.interfaces ?? []).length === 0;
  if (!isUnknown) return { interfaces: [], ...merged.spec };
  const { allocation: _, ...spec } = stored.spec ?? {};
  return { interfaces: [], ...spec, ...(merged.spec.allocation && { allocation: merged.spec.allocation }) };
}

/**
 * afxdpNodeStateSpec returns the spec of an AfxdpNetworkNodeState to apply.
 * Before the first report of the node no policy can match a device, so a stored state keeps its spec.
 *
 * The result always has `interfaces`: if `{}` is applied after a spec with fields, the API server stores null for the
 * spec and then rejects the object (kube-apiserver 1.36).
 */
export function afxdpNodeStateSpec(
  merged: Pick<MergedAfxdpNode, "spec">,
  stored?: Pick<AfxdpNetworkNodeState, "spec" | "status">,
): AfxdpNetworkNodeStateSpec {
  const isUnknown = stored !== undefined && (stored.status?.interfaces ?? []).length === 0;
  return { interfaces: [], ...(isUnknown ? stored.spec : merged.spec) };
}
