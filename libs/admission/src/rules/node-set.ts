// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about configDaemonNodeSelector of both configurations. The nodes that it selects run the config daemon and the device
 * plugins. A change is not a change of a policy, but takes both from the nodes that leave.
 */
import type { AfxdpOperatorConfig, SriovOperatorConfig } from "@switchyard/api";
import { hasLabels, isEmptySelector, labelsProblem, nodeSetLabels } from "@switchyard/policy";
import type { ClusterView } from "../cluster-view.ts";
import { listNames, refuse, warn, type ReviewFinding } from "../finding.ts";

const field = "spec.configDaemonNodeSelector";

type Config = SriovOperatorConfig | AfxdpOperatorConfig;

/** A label that no node can have. The API server would refuse the DaemonSets, and all nodes would seem to have left. */
export function checkNodeSetLabels(config: Config): readonly ReviewFinding[] {
  const problem = labelsProblem(config.spec?.configDaemonNodeSelector ?? {});
  return problem === undefined ? [] : [refuse(field, problem)];
}

/** What happens to nodes. `before` is the stored configuration; undefined if there is none. */
export function nodeSetWarnings(
  before: Config | undefined,
  after: Config,
  view: ClusterView,
): readonly ReviewFinding[] {
  const selector = after.spec?.configDaemonNodeSelector;
  if (labelsProblem(selector ?? {}) !== undefined) return [];
  const { nodes } = view;
  const next = nodeSetLabels(after);
  const members = nodes.filter(({ labels }) => hasLabels(labels, next));
  const wanted = Object.entries(next)
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
  const findings: ReviewFinding[] = [];
  if (selector !== undefined && isEmptySelector(selector)) {
    const selected = nodes.length === 0 ? "" : members.length === 1 ? ", 1 node" : `, ${members.length} nodes`;
    findings.push(warn(field, `is empty: nodes with the labels ${wanted} are selected${selected}`));
  }
  if (nodes.length > 0 && members.length === 0) {
    const all = nodes.length === 1 ? "the only node does not have" : `none of ${nodes.length} nodes has`;
    findings.push(warn(field, `${all} the labels ${wanted}: no node is configured`));
  }
  const former = before && nodeSetLabels(before);
  const left = nodes.filter(({ labels }) => former && hasLabels(labels, former) && !hasLabels(labels, next));
  if (left.length === 0) return findings;
  const pods = left.reduce((sum, { name }) => sum + (view.podsOn?.(name).length ?? 0), 0);
  const users = view.podsOn === undefined ? "" : `; ${describePods(pods)}`;
  const names = listNames(left.map(({ name }) => name));
  const [verb, their] = left.length === 1 ? ["leaves", "its"] : ["leave", "their"];
  const message = `${names} ${verb} the node set: ${their} daemons and device plugins stop, and VFs stay as they are${users}`;
  findings.push(warn(field, message));
  return findings;
}

function describePods(pods: number): string {
  if (pods === 0) return "no pods use devices there";
  return pods === 1 ? "1 pod uses devices there" : `${pods} pods use devices there`;
}
