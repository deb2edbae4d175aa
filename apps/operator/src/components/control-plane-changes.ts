// SPDX-License-Identifier: Apache-2.0
/**
 * changesControlPlane reports whether a change of a Node can change the result of isControlPlaneExternal. Webhook and
 * injector run on control plane nodes, or on any node if the cluster has none.
 * Usage: `fromCache(nodes, (change) => (changesControlPlane(change) ? keys : []))`.
 */
import type { Node } from "@switchyard/api";
import type { Change } from "@switchyard/kube";
import { isOfControlPlane } from "@switchyard/render";

export function changesControlPlane({ before, after }: Change<Node>): boolean {
  return before === undefined || after === undefined || isOfControlPlane(before) !== isOfControlPlane(after);
}
