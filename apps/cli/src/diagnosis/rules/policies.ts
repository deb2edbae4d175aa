// SPDX-License-Identifier: Apache-2.0
/** Policies and pools that select nothing, cannot be applied, or are in the wrong namespace. The merge is that of the operator. */
import { operatorConfigName, type SriovNetworkNodePolicy } from "@switchyard/api";
import {
  couldMatchNic,
  describeIdleEntry,
  describeNearest,
  hasLabels,
  idleEntries,
  isInNodeSet,
  labelsOf,
  matchesNic,
  mergePolicies,
  nearestName,
  nearestNic,
  nodeSetLabels,
  poolOverlaps,
} from "@switchyard/policy";
import { findingOf, refOf, resourceOf, type Finding } from "../finding.ts";
import type { Snapshot } from "../snapshot.ts";

export function findPolicies(snapshot: Snapshot): readonly Finding[] {
  return [
    ...outside(snapshot),
    ...refusedObjects(snapshot),
    ...withoutConfig(snapshot),
    ...emptyNodeSet(snapshot),
    ...snapshot.cluster.policies.flatMap((policy) => selectionOf(policy, snapshot)),
    ...problems(snapshot),
  ];
}

/** The kinds that the operator only uses in its own namespace. Nothing sets their status elsewhere. */
const ownKinds = [
  "SriovNetworkNodePolicy",
  "SriovNetworkPoolConfig",
  "SriovOperatorConfig",
  "AfxdpNetworkNodePolicy",
  "AfxdpOperatorConfig",
];

function outside(snapshot: Snapshot): readonly Finding[] {
  return ownKinds
    .flatMap((kind) => snapshot.objectsOf(kind))
    .filter(({ namespace }) => namespace !== undefined && namespace !== snapshot.namespace)
    .map((manifest) =>
      findingOf("PolicyOutsideOperatorNamespace", {
        object: refOf(manifest),
        field: "metadata.namespace",
        values: { resource: resourceOf(manifest.kind) },
        message: `is in namespace "${manifest.namespace ?? ""}", and the operator in "${snapshot.namespace}"`,
      }),
    );
}

function refusedObjects({ refused }: Snapshot): readonly Finding[] {
  return refused.map(({ manifest, problem }) =>
    findingOf("ObjectRefused", {
      object: refOf(manifest),
      message: problem,
      values: { resource: resourceOf(manifest.kind) },
    }),
  );
}

function withoutConfig({ cluster, namespace }: Snapshot): readonly Finding[] {
  if (cluster.policies.length === 0 || cluster.operatorConfig !== undefined) return [];
  return [
    findingOf("OperatorConfigMissing", {
      object: { kind: "SriovOperatorConfig", namespace, name: operatorConfigName },
      message: `${cluster.policies.length} policies exist, and no SriovOperatorConfig "default"`,
    }),
  ];
}

/** No policy can have nodes then, so nothing is said about their selectors. */
function emptyNodeSet(snapshot: Snapshot): readonly Finding[] {
  const { cluster, rules, namespace } = snapshot;
  if (cluster.operatorConfig === undefined || cluster.nodes.length === 0) return [];
  if (cluster.nodes.some((node) => isInNodeSet(node, rules))) return [];
  const count =
    cluster.nodes.length === 1 ? "the only node does not have" : `none of ${cluster.nodes.length} nodes has`;
  return [
    findingOf("NodeSetEmpty", {
      object: { kind: "SriovOperatorConfig", namespace, name: operatorConfigName },
      field: "spec.configDaemonNodeSelector",
      message: `${count} its labels, so no node is configured`,
      evidence: nearestNode(nodeSetLabels(cluster.operatorConfig), snapshot),
    }),
  ];
}

/** Nothing is said of nodes whose daemon has not reported: their NICs are unknown. */
function selectionOf(policy: SriovNetworkNodePolicy, snapshot: Snapshot): readonly Finding[] {
  const { cluster, rules, namespace } = snapshot;
  const object = { kind: "SriovNetworkNodePolicy", namespace, name: policy.metadata.name };
  if (cluster.nodes.length === 0) return [];
  const members = cluster.nodes.filter((node) => isInNodeSet(node, rules));
  if (members.length === 0 && cluster.operatorConfig !== undefined) return []; // NodeSetEmpty
  const selector = policy.spec.nodeSelector;
  const selected = members.filter((node) => hasLabels(labelsOf(node), selector));
  if (selected.length === 0) {
    const evidence = nearestNode(selector, snapshot);
    const message = `no node of the ${members.length} in the node set has the labels of spec.nodeSelector`;
    return [findingOf("NodeSelectorMatchesNothing", { object, field: "spec.nodeSelector", message, evidence })];
  }
  const reports = selected.flatMap(({ metadata: { name } }) => {
    const interfaces = cluster.states.get(name)?.status?.interfaces ?? [];
    return interfaces.length === 0 ? [] : [{ name, interfaces }];
  });
  const pfs = reports.flatMap(({ interfaces }) => interfaces);
  const { nicSelector } = policy.spec;
  if (pfs.some((nic) => matchesNic(nicSelector, nic))) {
    const names = reports.map(({ name }) => name);
    return idleEntries(nicSelector, pfs, couldMatchNic).map((entry) => {
      const message = describeIdleEntry(entry, names);
      return findingOf("NicSelectorEntryMatchesNothing", { object, field: entry.field, message });
    });
  }
  if (reports.length < selected.length) return [];
  const message = `no PF of the ${selected.length} selected nodes matches spec.nicSelector`;
  const nearest = nearestNic(nicSelector, pfs);
  const evidence = nearest === undefined ? [] : [`nearest match: PF ${describeNearest(nearest)}`];
  return [findingOf("NicSelectorMatchesNothing", { object, field: "spec.nicSelector", message, evidence })];
}

/** The node that lacks the fewest labels, and what it has instead. */
function nearestNode(selector: Readonly<Record<string, string>>, { cluster }: Snapshot): readonly string[] {
  const wanted = Object.entries(selector);
  const ranked = cluster.nodes
    .map((node) => ({ node, lacks: wanted.filter(([key, value]) => labelsOf(node)[key] !== value) }))
    .sort((a, b) => a.lacks.length - b.lacks.length);
  const [best] = ranked;
  if (best === undefined) return [];
  const labels = labelsOf(best.node);
  const differences = best.lacks.map(([key, value]) => {
    const like = nearestName(key, Object.keys(labels));
    if (Object.hasOwn(labels, key)) return `it has ${key}=${labels[key] ?? ""}, not "${value}"`;
    return like === undefined ? `it has no label ${key}` : `it has ${like}=${labels[like] ?? ""}, not ${key}=${value}`;
  });
  const { name } = best.node.metadata;
  return differences.length === 0
    ? [`nearest match: node ${name} has the labels, but is not in the node set`]
    : [`nearest match: node ${name}: ${differences.join("; ")}`];
}

/** Problems of the merge, once for each policy and field, with the nodes. */
function problems(snapshot: Snapshot): readonly Finding[] {
  const { cluster, rules, namespace } = snapshot;
  const members = cluster.nodes.filter((node) => isInNodeSet(node, rules));
  const rows = members.flatMap((node) => {
    const { name } = node.metadata;
    const merged = mergePolicies(node, cluster.states.get(name)?.status?.interfaces ?? [], rules);
    return [
      ...merged.problems
        .filter(({ code }) => code !== "no-match")
        .map(({ policyName, ...problem }) => ({
          ...problem,
          node: name,
          kind: "SriovNetworkNodePolicy",
          policyName,
        })),
      ...poolOverlaps(node, rules).map(({ poolName, ...problem }) => ({
        ...problem,
        severity: "error",
        node: name,
        kind: "SriovNetworkPoolConfig",
        policyName: poolName,
      })),
    ];
  });
  const pools = rules.poolProblems.map(({ poolName, ...problem }) => ({
    ...problem,
    severity: "error",
    node: "",
    kind: "SriovNetworkPoolConfig",
    policyName: poolName,
  }));
  const closed = cluster.pools.filter(({ spec }) => spec?.maxUnavailable === 0 || spec?.maxUnavailable === "0");
  // The message of an overlap has the name of the node, so a pool with a hundred nodes would have a hundred findings.
  const groups = Map.groupBy([...rows, ...pools], ({ kind, policyName, code, field, message }) =>
    [kind, policyName, field, code === "overlap" ? code : message].join("\n"),
  );
  return [
    ...[...groups.values()].flatMap((same): readonly Finding[] => {
      const [first] = same;
      if (first === undefined) return [];
      const nodes = same.map(({ node }) => node).filter((name) => name !== "");
      const evidence =
        nodes.length === 0
          ? []
          : [`${nodes.length === 1 ? "1 node" : `${nodes.length} nodes`}: ${nodes.slice(0, 5).join(", ")}`];
      const object = { kind: first.kind, namespace, name: first.policyName };
      const code = first.kind === "SriovNetworkPoolConfig" ? "PoolProblem" : "PolicyProblem";
      const finding = findingOf(code, { object, field: first.field, message: first.message, evidence });
      return [first.severity === "warning" ? { ...finding, severity: "warning" } : finding];
    }),
    ...closed.map(({ metadata: { name } }) =>
      findingOf("PoolAllowsNoDrain", {
        object: { kind: "SriovNetworkPoolConfig", namespace, name },
        field: "spec.maxUnavailable",
        message: "spec.maxUnavailable is 0",
      }),
    ),
  ];
}
