// SPDX-License-Identifier: Apache-2.0
/**
 * reasonToWait says why a driver of ResourceClaims that another operator has deployed is not replaced yet. That driver runs on all nodes of
 * the node set, this operator's on nodes with a label. While nodes lack the label, a change of the DaemonSet would end the pods of all of
 * them at once; afterwards the DaemonSet replaces them as its strategy says, some at a time.
 */
import { labels } from "@switchyard/api";
import type { RenderedComponent } from "@switchyard/render";
import type { ComponentObjects } from "./component-objects.ts";

interface DriverTakeOver {
  readonly objects: ComponentObjects;
  readonly countNodesWithoutDriver: () => number;
}

/** Returns a sentence; undefined if the component can be applied. */
export function reasonToWait(
  { objects, countNodesWithoutDriver }: DriverTakeOver,
  component: RenderedComponent,
): string | undefined {
  const driver = component.objects.find(({ kind }) => kind === "DaemonSet");
  if (component.name !== "dra-driver" || driver === undefined) return undefined;
  const present = objects.seen(objects.itemOf(driver));
  if (present?.nodeSelector === undefined || present.isTerminating) return undefined;
  if (Object.hasOwn(present.nodeSelector, labels.draDriver)) return undefined;
  const count = countNodesWithoutDriver();
  if (count === 0) return undefined;
  const { name } = driver.metadata;
  return count === 1
    ? `${name} of another operator is replaced when 1 node has got the label ${labels.draDriver}`
    : `${name} of another operator is replaced when ${count} nodes have got the label ${labels.draDriver}`;
}
