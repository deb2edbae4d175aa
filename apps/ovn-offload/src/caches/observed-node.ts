// SPDX-License-Identifier: Apache-2.0
/**
 * toObservedNode keeps of a Node what ovn-offload needs, so that the kubelet's heartbeats cause no events.
 * Usage: `watchObjects({ type: nodes, project: sharingEqual(toObservedNode), ... })`.
 */
import { annotations as keys, defined, type Node } from "@switchyard/api";
import { recordAt, type KubeObject } from "@switchyard/kube";
import type { ObservedNode } from "../decide/observed.ts";
import { fieldManagers } from "../field-managers.ts";

export function toObservedNode(node: Node & KubeObject): ObservedNode {
  const { name, uid, resourceVersion, labels, annotations } = node.metadata;
  const current = annotations?.[keys.currentMachineConfig];
  const { taints, unschedulable } = node.spec ?? {};
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      ...defined({ uid, resourceVersion, labels }),
      ...(current !== undefined && { annotations: { [keys.currentMachineConfig]: current } }),
    },
    spec: defined({ taints, unschedulable }),
    ownLabels: ownLabelsOf(node),
  };
}

/** Returns the keys of the labels that the last apply of ovn-offload set, sorted. */
function ownLabelsOf({ metadata: { managedFields = [], labels = {} } }: KubeObject): readonly string[] {
  const entry = managedFields.find(({ manager, operation, subresource = "" }) => {
    return manager === fieldManagers.objects && operation === "Apply" && subresource === "";
  });
  const fields = recordAt(entry?.fieldsV1, "f:metadata", "f:labels");
  return Object.keys(fields)
    .flatMap((field) => (field.startsWith("f:") ? [field.slice("f:".length)] : []))
    .filter((key) => Object.hasOwn(labels, key))
    .sort();
}
