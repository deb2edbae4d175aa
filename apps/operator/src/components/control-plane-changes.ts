// SPDX-License-Identifier: Apache-2.0
/**
 * When it is to be asked anew whether the control plane's nodes are to be seen (isControlPlaneExternal): what runs beside
 * the API server elsewhere runs on any node where they are not.
 * Usage: `fromCache(nodes, (change) => (changesControlPlane(change) ? keys : []))`.
 */
import type { Node } from "@switchyard/api";
import type { Change } from "@switchyard/kube";
import { isOfControlPlane } from "@switchyard/render";

/** Whether the answer may be another one after the change. */
export function changesControlPlane({ before, after }: Change<Node>): boolean {
  return before === undefined || after === undefined || isOfControlPlane(before) !== isOfControlPlane(after);
}
