// SPDX-License-Identifier: Apache-2.0
/**
 * Whether the cluster's control plane is somebody else's (hosted, managed): then none of its nodes are to be seen, and
 * what runs beside the API server elsewhere runs on any node.
 * Usage: `isControlPlaneExternal(nodes.list())`.
 */
import type { Node } from "@switchyard/api";
import type { Change } from "@switchyard/kube";

/** The old role and the new one: a node has either. */
const roles = ["node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"];

/** While there are no nodes at all, nobody knows. */
export function isControlPlaneExternal(nodes: readonly Node[]): boolean {
  return nodes.length > 0 && !nodes.some(isOfControlPlane);
}

/** Whether the answer may be another one after the change. */
export function concernsControlPlane({ before, after }: Change<Node>): boolean {
  return before === undefined || after === undefined || isOfControlPlane(before) !== isOfControlPlane(after);
}

function isOfControlPlane({ metadata: { labels = {} } }: Node): boolean {
  return roles.some((role) => Object.hasOwn(labels, role));
}
