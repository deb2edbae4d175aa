// SPDX-License-Identifier: Apache-2.0
/** Why a node that an entry of spec.ovnHardwareOffload selects belongs to no pool. */
import type { Node } from "@switchyard/api";
import { labelsOf } from "../nodes/label-selector.ts";
import { compareText } from "../order.ts";
import { offloadProblem, type OffloadProblem } from "./offload-selection.ts";

/** The pool that selects the node. */
interface SelectingPool {
  readonly name: string;
  /** Index of the entry that selects the pool. */
  readonly entry: number;
}

/** Reports whether the node has the old or the new role label of the control plane. */
export function isOfControlPlane(node: Node): boolean {
  const labels = labelsOf(node);
  return controlPlaneLabels.some((label) => Object.hasOwn(labels, label));
}

/** The problem of a control plane node. */
export function controlPlaneProblem({ metadata: { name: node } }: Node, pool: SelectingPool): OffloadProblem {
  const message =
    `node ${node} has the labels of pool ${pool.name}, but belongs to the control plane, ` +
    "whose nodes cannot be hosts: remove the label from the node";
  return offloadProblem({ code: "control-plane-node", entry: pool.entry, pool: pool.name, node, message });
}

/** The problem of a node that several custom pools select. */
export function severalPoolsProblem(
  { metadata: { name: node } }: Node,
  pool: SelectingPool,
  all: readonly { readonly name: string }[],
): OffloadProblem {
  const names = all.map(({ name }) => name).toSorted(compareText);
  const message =
    `node ${node} belongs to the pools ${names.join(", ")}, so none of them configures it: ` +
    "a node must belong to one custom pool only";
  return offloadProblem({ code: "several-pools", entry: pool.entry, pool: pool.name, node, message });
}

const controlPlaneLabels = ["node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"];
