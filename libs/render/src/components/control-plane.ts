// SPDX-License-Identifier: Apache-2.0
/**
 * The nodes beside the API server, where what it calls runs. Where the control plane is somebody else's (hosted, managed)
 * none of them are to be seen.
 * Usage: `const settings = { …, isControlPlaneExternal: isControlPlaneExternal(nodes) };`
 */
import type { Node } from "@switchyard/api";

/** The old role and the new one: a node has either. */
export const controlPlaneLabels = ["node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"];

/** While there are no nodes at all, nobody knows. */
export function isControlPlaneExternal(nodes: readonly Node[]): boolean {
  return nodes.length > 0 && !nodes.some(isOfControlPlane);
}

export function isOfControlPlane({ metadata: { labels = {} } }: Node): boolean {
  return controlPlaneLabels.some((label) => Object.hasOwn(labels, label));
}
