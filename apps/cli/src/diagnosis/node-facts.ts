// SPDX-License-Identifier: Apache-2.0
/** NodeFacts is what findings depend on in the status of a Node. */
import { at, isJsonObject, listAt, stringsAt, textAt } from "../json.ts";
import { countOf } from "./quantity.ts";

export interface NodeFacts {
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly isUnschedulable: boolean;
  /** Devices that the kubelet offers, by full resource name; undefined if the Node has no status. */
  readonly allocatable: ReadonlyMap<string, number> | undefined;
  readonly bootID: string | undefined;
  readonly kubeletVersion: string | undefined;
  /** When the node last became Ready (RFC 3339); undefined if it is not Ready. */
  readonly readySince: string | undefined;
}

/** Reads a Node, which may be malformed. */
export function readNodeFacts(node: unknown): NodeFacts {
  const allocatable = at(node, "status", "allocatable");
  const ready = listAt(node, "status", "conditions").find((condition) => textAt(condition, "type") === "Ready");
  const info = at(node, "status", "nodeInfo");
  return {
    annotations: stringsAt(node, "metadata", "annotations"),
    labels: stringsAt(node, "metadata", "labels"),
    isUnschedulable: at(node, "spec", "unschedulable") === true,
    allocatable: isJsonObject(allocatable)
      ? new Map(Object.entries(allocatable).map(([name, quantity]) => [name, countOf(quantity)]))
      : undefined,
    bootID: textAt(info, "bootID"),
    kubeletVersion: textAt(info, "kubeletVersion"),
    readySince: textAt(ready, "status") === "True" ? textAt(ready, "lastTransitionTime") : undefined,
  };
}
