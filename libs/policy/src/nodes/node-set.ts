// SPDX-License-Identifier: Apache-2.0
/**
 * The node set consists of the nodes that run the config daemon and have a SriovNetworkNodeState
 * (sriov-operator.md B.2).
 * Usage: `isInNodeSet(node, rules)`.
 */
import type { AfxdpOperatorConfig, Node, SriovOperatorConfig } from "@switchyard/api";
import { hasLabels, labelsOf, type Labels } from "./label-selector.ts";

/** Linux nodes with the worker role. The value of the worker label is the empty string. */
const defaultLabels: Labels = { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" };

/** Reports whether the node has all labels of `nodeSet`, which nodeSetLabels returns and Rules contains. */
export function isInNodeSet(node: Node, { nodeSet }: { readonly nodeSet: Labels }): boolean {
  return hasLabels(labelsOf(node), nodeSet);
}

/**
 * Returns the labels that select the node set: configDaemonNodeSelector, or the labels of Linux workers if that field
 * is absent or empty or there is no config.
 */
export function nodeSetLabels(config: SriovOperatorConfig | AfxdpOperatorConfig | undefined): Labels {
  const selector = config?.spec?.configDaemonNodeSelector ?? {};
  return Object.keys(selector).length > 0 ? selector : defaultLabels;
}
