// SPDX-License-Identifier: Apache-2.0
/**
 * isControlPlaneExternal reports whether the cluster has no control plane nodes, as with a hosted or managed control
 * plane. If it has some, the servers that the API server calls run there.
 * Usage: `const isExternal = isControlPlaneExternal(nodes);`
 */
import type { Node } from "@switchyard/api";

/** The old and the new role label. A control plane node has one of them. */
export const controlPlaneLabels = ["node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"];

/**
 * Reports whether no node belongs to the control plane. False if there are no nodes at all, since then it is unknown.
 */
export function isControlPlaneExternal(nodes: readonly Node[]): boolean {
  return nodes.length > 0 && !nodes.some(isOfControlPlane);
}

/** Reports whether the node belongs to the control plane. */
export function isOfControlPlane({ metadata: { labels = {} } }: Node): boolean {
  return controlPlaneLabels.some((label) => Object.hasOwn(labels, label));
}
