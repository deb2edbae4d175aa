// SPDX-License-Identifier: Apache-2.0
/**
 * afxdpNodeStateSpec returns the spec of an AfxdpNetworkNodeState to apply.
 * Usage: `afxdpNodeStateSpec(mergeAfxdpPolicies(node, afxdpDevices(state.status), rules), state)`.
 */
import type { AfxdpNetworkNodeState, AfxdpNetworkNodeStateSpec } from "@switchyard/api";
import type { MergedAfxdpNode } from "./merge-afxdp-policies.ts";

/**
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
