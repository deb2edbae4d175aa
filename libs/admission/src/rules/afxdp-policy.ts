// SPDX-License-Identifier: Apache-2.0
/**
 * Rules about AfxdpNetworkNodePolicy: what the operator would report about the policy on any node is reported before it is
 * stored. The nodes are merged by the function that the operator calls.
 */
import type { AfxdpNetworkNodePolicy, Node } from "@switchyard/api";
import {
  afxdpDevices,
  afxdpPolicyProblems,
  afxdpProviderOf,
  createAfxdpRules,
  createRules,
  couldMatchDevice,
  describeBroadSelector,
  describeEmptySelector,
  describeIdleEntry,
  hasLabels,
  idleEntries,
  isEmptySelector,
  isInNodeSet,
  mergeAfxdpPolicies,
  mergePolicies,
  sriovUse,
  toPfAddresses,
  type AfxdpProblem,
  type AfxdpRules,
  type MergedAfxdpNode,
  type Rules,
  type SriovUse,
} from "@switchyard/policy";
import type { AfxdpView, ClusterView } from "../cluster-view.ts";
import { decidedByMost, listNames, refuse, warn, type ReviewFinding } from "../finding.ts";
import type { NodeForReview } from "../node-for-review.ts";

export function checkAfxdpPolicy(policy: AfxdpNetworkNodePolicy, view: ClusterView): readonly ReviewFinding[] {
  if (policy.metadata.namespace !== view.namespace) {
    const message = `this policy has no effect: the operator uses policies of namespace ${view.namespace} only`;
    return [warn("metadata.namespace", message)];
  }
  const own = afxdpPolicyProblems(policy, afxdpProviderOf(view.afxdp?.operatorConfig));
  if (own.length > 0) return own.map(({ field, message }) => refuse(field, message));
  return [...checkSelector(policy, view), ...(view.afxdp === undefined ? [] : checkOnNodes(policy, view, view.afxdp))];
}

/** The API server removes labels without a value, so an empty selector may be meant as one that selects few nodes. */
function checkSelector({ spec }: AfxdpNetworkNodePolicy, { nodes, afxdp }: ClusterView): readonly ReviewFinding[] {
  if (!isEmptySelector(spec.nodeSelector)) return [];
  if (nodes.length === 0 || afxdp === undefined) return [warn("", describeEmptySelector(undefined))];
  const rules = createAfxdpRules({ policies: [], operatorConfig: afxdp.operatorConfig });
  const nodeCount = nodes.filter((node) => isInNodeSet(toNode(node), rules)).length;
  return nodeCount === 0 ? [] : [warn("", describeEmptySelector(nodeCount))];
}

/** What the merge says about the new policy, and what it newly says about others, each once with its nodes. */
function checkOnNodes(policy: AfxdpNetworkNodePolicy, view: ClusterView, afxdp: AfxdpView): readonly ReviewFinding[] {
  const { name } = policy.metadata;
  const others = afxdp.policies.filter(({ metadata }) => metadata.name !== name);
  const { operatorConfig } = afxdp;
  const after = createAfxdpRules({ policies: [...others, policy], operatorConfig });
  const before = createAfxdpRules({ policies: others, operatorConfig });
  const sriov = view.policies.length === 0 ? undefined : sriovRules(view);
  const selected = view.nodes.filter(
    (node) => isInNodeSet(toNode(node), after) && hasLabels(node.labels, policy.spec.nodeSelector),
  );
  type Make = (nodes: readonly string[]) => ReviewFinding;
  const findings = new Map<string, { readonly make: Make; readonly nodes: string[] }>();
  const add = (key: string, node: string, make: Make): void => {
    const known = findings.get(key) ?? { make, nodes: [] };
    known.nodes.push(node);
    findings.set(key, known);
  };
  let deviceCount = 0;
  const refusing = new Set<string>();
  const concerned = new Set<string>();
  for (const node of selected) {
    const report = afxdp.states.get(node.name);
    const devices = afxdpDevices(report, sriov && sriovUseOn(node, sriov), report?.assigned);
    const merge = (rules: AfxdpRules): MergedAfxdpNode => mergeAfxdpPolicies(toNode(node), devices, rules);
    const known = new Set(merge(before).problems.map(keyOf));
    const merged = merge(after);
    const matched = merged.matches.find(({ policyName }) => policyName === name)?.devices.length ?? 0;
    deviceCount += matched;
    if (matched > 0) concerned.add(node.name);
    for (const problem of merged.problems) {
      if (problem.policyName === name && problem.severity === "error") refusing.add(node.name);
      if (problem.policyName === name) add(keyOf(problem), node.name, (nodes) => findingOf(problem, nodes));
      else if (problem.severity === "error" && !known.has(keyOf(problem))) {
        add(keyOf(problem), node.name, (nodes) => otherFinding(problem, nodes));
      }
    }
  }
  if (view.nodes.length > 0 && selected.length === 0) {
    return [warn("spec.nodeSelector", "selects no node that runs the config daemon")];
  }
  const { nicSelector } = policy.spec;
  const broad = describeBroadSelector(nicSelector, deviceCount);
  const reports = selected.flatMap(({ name: node }) => {
    const { interfaces = [] } = afxdp.states.get(node) ?? {};
    return interfaces.length === 0 ? [] : [{ node, interfaces }];
  });
  const nics = reports.flatMap(({ interfaces }) => interfaces);
  const nodeNames = reports.map(({ node }) => node);
  const idle = idleEntries(nicSelector, nics, couldMatchDevice);
  return [
    ...(broad === undefined ? [] : [warn("", broad)]),
    ...idle.map((entry) => warn(entry.field, describeIdleEntry(entry, nodeNames))),
    ...decidedByMost(
      [...findings.values()].map(({ make, nodes }) => make(nodes)),
      refusing,
      new Set([...concerned, ...refusing]).size,
    ),
  ];
}

function findingOf({ severity, code, field, message }: AfxdpProblem, nodes: readonly string[]): ReviewFinding {
  const text = `${message} (on ${listNames(nodes)})`;
  return severity === "error" ? refuse(field, text, { code, nodes, amount: 0 }) : warn(field, text);
}

function otherFinding({ policyName, field, message }: AfxdpProblem, nodes: readonly string[]): ReviewFinding {
  const where = listNames(nodes);
  return warn("", `policy ${policyName} is no longer applied completely on ${where}: ${field}: ${message}`);
}

function keyOf({ policyName, code, field, message }: AfxdpProblem): string {
  return JSON.stringify([policyName, code, field, message]);
}

function sriovRules({ policies, pools, operatorConfig, nics }: ClusterView): Rules {
  return createRules({ policies, pools, operatorConfig, nics });
}

/** The specs of node states are not in the view, so SR-IOV policies are merged, too. */
function sriovUseOn(node: NodeForReview, rules: Rules): SriovUse {
  if (node.state === undefined || !isInNodeSet(toNode(node), rules)) return () => undefined;
  const { spec } = mergePolicies(toNode(node), node.state.layout, rules);
  return sriovUse({ spec, pfs: toPfAddresses(node.state.status.interfaces) });
}

function toNode({ name, labels }: NodeForReview): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}
