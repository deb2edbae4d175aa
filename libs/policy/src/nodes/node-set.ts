// SPDX-License-Identifier: Apache-2.0
/**
 * The node set: the nodes that run the config daemon and have a SriovNetworkNodeState (sriov-operator.md B.2).
 * Usage: `isInNodeSet(node, rules)`.
 */
import type { Node, SriovOperatorConfig } from "@switchyard/api";
import { hasLabels, labelsOf, type Labels } from "./label-selector.ts";
import type { Rules } from "../merge/rules.ts";

/** Linux workers. The value of the worker label is exactly empty. */
const defaultLabels: Labels = { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" };

/** Whether the node carries all labels of nodeSetLabels. */
export function isInNodeSet(node: Node, { nodeSet }: Rules): boolean {
  return hasLabels(labelsOf(node), nodeSet);
}

/**
 * Labels of the node set: configDaemonNodeSelector; where that is absent or empty, or there is no config, Linux
 * workers.
 */
export function nodeSetLabels(config: SriovOperatorConfig | undefined): Labels {
  const selector = config?.spec?.configDaemonNodeSelector ?? {};
  return Object.keys(selector).length > 0 ? selector : defaultLabels;
}
