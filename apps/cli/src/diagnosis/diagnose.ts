// SPDX-License-Identifier: Apache-2.0
/**
 * diagnose finds what is wrong in a cluster, and returns one result for each node, policy, pool, network and pod.
 */
import { defined } from "@switchyard/api";
import { findCauses } from "./causes.ts";
import type { Severity } from "./finding-catalogue.ts";
import type { Finding, ObjectRef } from "./finding.ts";
import { eventsOf } from "./events.ts";
import type { DetectedFinding, Rule } from "./rule.ts";
import { findClaims } from "./rules/claims.ts";
import { findComponents } from "./rules/components.ts";
import { findConditions } from "./rules/conditions.ts";
import { findDevices } from "./rules/devices.ts";
import { findDrains, usesDevices } from "./rules/drains.ts";
import { findNetworks } from "./rules/networks.ts";
import { findNodes } from "./rules/nodes.ts";
import { findPods } from "./rules/pods.ts";
import { findPolicies } from "./rules/policies.ts";
import { findServerCertificates } from "./rules/server-certificates.ts";
import { findWebhooks } from "./rules/webhooks.ts";
import type { Snapshot } from "./snapshot.ts";

/** The result for one object: its most severe finding. */
export interface ObjectResult {
  readonly object: ObjectRef;
  readonly result: "healthy" | Severity;
  /** Codes of its findings. */
  readonly codes: readonly string[];
}

export interface Diagnosis {
  /** Whether there are neither errors nor warnings. */
  readonly healthy: boolean;
  /**
   * A cause, then what it explains (`causedBy`). Causes with errors, also in what they explain, are first, then those by kind,
   * namespace, name and code.
   */
  readonly findings: readonly Finding[];
  /** Sorted by kind, namespace and name. The result of a node includes that of its node state. */
  readonly results: readonly ObjectResult[];
}

const rules: readonly Rule[] = [
  ...[
    findConditions,
    findNodes,
    findPolicies,
    findNetworks,
    findPods,
    findClaims,
    findDrains,
    findDevices,
    findComponents,
    findWebhooks,
    findServerCertificates,
  ],
];

export function diagnose(snapshot: Snapshot): Diagnosis {
  const warningsAbout = eventsOf(snapshot);
  const detected = rules.flatMap((find) => find(snapshot));
  const messages = Map.groupBy(detected, ({ object }) => keyOf(object));
  // What a finding about the object says already is no evidence for it, nor for another one.
  const isNews = ({ object }: Finding, text: string): boolean => {
    return !(messages.get(keyOf(object)) ?? []).some(({ message }) => message === text);
  };
  const findings = detected
    .map((finding) => {
      const warnings = warningsAbout(finding.object, finding.sinceMs).filter(({ text }) => isNews(finding, text));
      return { ...finding, evidence: [...finding.evidence, ...warnings.map(({ line }) => line)] };
    })
    .sort(compareFindings);
  const isHealthy = findings.every(({ severity }) => severity === "info");
  return { healthy: isHealthy, findings: chained(findings, snapshot), results: resultsOf(findings, snapshot) };
}

/** The findings below their causes. `findings` are sorted. */
function chained(findings: readonly DetectedFinding[], snapshot: Snapshot): readonly Finding[] {
  const causeOf = findCauses(findings, snapshot);
  const causes = new Map(findings.map((finding) => [finding, causeOf(finding)]));
  const firstCause = (finding: DetectedFinding): DetectedFinding => {
    const passed = new Set<DetectedFinding>();
    let current = finding;
    for (;;) {
      passed.add(current);
      const cause = causes.get(current);
      // Findings that explain each other have no first cause: each is one.
      if (cause === undefined) return current;
      if (passed.has(cause)) return finding;
      current = cause;
    }
  };
  const groups = Map.groupBy(findings, firstCause);
  // The first finding of a group in the sorted list is its most severe one, so the groups are sorted by severity.
  return [...groups].flatMap(([cause, group]) => [
    printed(cause),
    ...group.filter((finding) => finding !== cause).map((finding) => printed(finding, cause)),
  ]);
}

function printed({ nodes: _, sinceMs: __, ...finding }: DetectedFinding, cause?: DetectedFinding): Finding {
  return { ...finding, ...defined({ causedBy: cause && { code: cause.code, object: cause.object } }) };
}

const order: readonly string[] = ["error", "warning", "info", "healthy"];

function compareFindings(a: Finding, b: Finding): number {
  const severity = order.indexOf(a.severity) - order.indexOf(b.severity);
  return severity !== 0 ? severity : compareTexts(`${keyOf(a.object)} ${a.code}`, `${keyOf(b.object)} ${b.code}`);
}

function resultsOf(findings: readonly Finding[], snapshot: Snapshot): readonly ObjectResult[] {
  const { cluster, namespace, pods } = snapshot;
  const named = (kind: string) => (object: { metadata: { name: string; namespace?: string } }) => {
    return { kind, namespace: object.metadata.namespace ?? namespace, name: object.metadata.name };
  };
  const states = [...cluster.states.keys(), ...cluster.afxdp.states.keys()];
  const nodes = new Set([...cluster.nodes.map(({ metadata }) => metadata.name), ...states]);
  const objects: readonly ObjectRef[] = [
    ...[...nodes].map((name) => ({ kind: "Node", name })),
    ...cluster.policies.map(named("SriovNetworkNodePolicy")),
    ...cluster.pools.map(named("SriovNetworkPoolConfig")),
    ...cluster.afxdp.policies.map(named("AfxdpNetworkNodePolicy")),
    ...cluster.networks.map((network) => named(network.kind)(network)),
    ...pods
      .filter((pod) => usesDevices(pod, snapshot))
      .map(({ namespace: home, name }) => ({ kind: "Pod", namespace: home, name })),
  ];
  const byObject = Map.groupBy(findings, ({ object }) => keyOf(judged(object)));
  const listed = new Map(objects.map((object) => [keyOf(object), object]));
  for (const { object } of findings) listed.set(keyOf(judged(object)), judged(object));
  return [...listed]
    .sort(([a], [b]) => compareTexts(a, b))
    .map(([key, object]) => {
      const own = byObject.get(key) ?? [];
      return { object, result: own[0]?.severity ?? "healthy", codes: [...new Set(own.map(({ code }) => code))] };
    });
}

/** The findings of a node state are those of its node. */
function judged(object: ObjectRef): ObjectRef {
  const isState = object.kind === "SriovNetworkNodeState" || object.kind === "AfxdpNetworkNodeState";
  return isState ? { kind: "Node", name: object.name } : object;
}

function keyOf({ kind, namespace = "", name }: ObjectRef): string {
  return `${kind}\n${namespace}\n${name}`;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
