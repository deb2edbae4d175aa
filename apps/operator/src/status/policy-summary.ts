// SPDX-License-Identifier: Apache-2.0
/** policySummary summarises the results of a policy on its nodes, for policies of SR-IOV and of AF_XDP. */
import { policyReasons } from "@switchyard/api";
import {
  describeBroadSelector,
  describeEmptySelector,
  describeIdleEntry,
  isEmptySelector,
  type IdleEntry,
  type Labels,
  type SelectableNic,
  type SelectorFields,
} from "@switchyard/policy";
import type { ConditionSummary } from "../reports/condition-summary.ts";

/** The result of a policy on one node. */
export interface NodeOutcome {
  readonly node: string;
  readonly kind: "ready" | "configuring" | "failed" | "invalid" | "no-nic";
  /** What is wrong, or what a node waits for that is being configured; empty if nothing is known. */
  readonly message: string;
  /** The number of PFs or devices to which the policy is applied. */
  readonly portCount: number;
  /** Whether the node has reported its NICs. */
  readonly isReported: boolean;
  /** What does not stop the policy on the node, but is probably not what its author wants. */
  readonly warning?: string | undefined;
  /** In how many milliseconds the outcome may be another although nothing has changed. */
  readonly recheckInMs?: number | undefined;
}

/** The selectors of a policy of either kind, and what they select. */
interface Selection {
  readonly nodeSelector: Labels;
  readonly nicSelector: SelectorFields;
  /** Entries of nicSelector that match no NIC of any node. */
  readonly idleEntries: readonly IdleEntry<SelectableNic>[];
  /** Nodes with the labels of nodeSelector that are not in the node set. */
  readonly outside: readonly string[];
  /** Why the node set is not known. */
  readonly nodeSetProblem: string | undefined;
  /** Kind of the configuration with the node set. */
  readonly configKind: "SriovOperatorConfig" | "AfxdpOperatorConfig";
}

/**
 * The worst result decides; the message has the counts, the first node that waits and for what, and warnings; or the first error by node name. `outcomes` are those
 * of the nodes that `nodeSelector` selects. If a selector selects more than its author may want, the message says so.
 */
export function policySummary(outcomes: readonly NodeOutcome[], selection: Selection): ConditionSummary {
  const of = (kind: NodeOutcome["kind"]) => outcomes.filter((outcome) => outcome.kind === kind);
  const [invalid, failed, configuring, ready, withoutNic] = [
    of("invalid"),
    of("failed"),
    of("configuring"),
    of("ready"),
    of("no-nic"),
  ];
  const rest = withoutNic.length > 0 ? `no NIC matches on ${listNodes(withoutNic)}` : "";
  const waiting = configuring.filter(({ message }) => message !== "").toSorted(byName)[0];
  const wait = waiting === undefined ? "" : `: ${waiting.node} ${waiting.message}`;
  const done = `${ready.length} of ${outcomes.length - withoutNic.length} nodes configured${wait}`;
  const warned = outcomes.flatMap(({ node, warning }) => (warning === undefined ? [] : [{ node, message: warning }]));
  const warnings = warned.length > 0 ? firstOf(warned) : "";
  const all = isEmptySelector(selection.nodeSelector) ? describeEmptySelector(outcomes.length) : "";
  const portCount = outcomes.reduce((sum, outcome) => sum + outcome.portCount, 0);
  const broad = describeBroadSelector(selection.nicSelector, portCount) ?? "";
  const reported = outcomes.filter(({ isReported }) => isReported).map(({ node }) => node);
  const idle = selection.idleEntries.map((entry) => `${entry.field}: ${describeIdleEntry(entry, reported)}`).join("; ");
  const parts = withoutNic.length === outcomes.length ? [rest, all] : [done, rest, all, broad, idle, warnings];
  const counts = parts.filter((part) => part !== "").join("; ");
  if (invalid.length > 0) return { state: "degraded", reason: policyReasons.invalid, message: firstOf(invalid) };
  if (failed.length > 0) return { state: "degraded", reason: policyReasons.nodesFailed, message: firstOf(failed) };
  if (outcomes.length === 0) {
    return { state: "idle", reason: policyReasons.noNodes, message: describeNoNodes(selection) };
  }
  if (configuring.length > 0) return { state: "progressing", reason: policyReasons.configuring, message: counts };
  if (ready.length === 0) return { state: "idle", reason: policyReasons.noNics, message: counts };
  return { state: "ready", reason: policyReasons.configured, message: counts };
}

/** What a policy's or pool's selection needs for this message. */
type NodeSelection = Pick<Selection, "outside" | "nodeSetProblem" | "configKind">;

/** Says why no node is selected, and whose field is wrong: that of the policy or pool, or that of the configuration. */
export function describeNoNodes({ outside, nodeSetProblem, configKind }: NodeSelection): string {
  const field = `spec.configDaemonNodeSelector of ${configKind} default`;
  if (nodeSetProblem !== undefined) return `${field}: ${nodeSetProblem}; nodes stay as they are until it is corrected`;
  if (outside.length === 0) return "spec.nodeSelector selects no nodes";
  const names = outside.toSorted();
  const shown = names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
  return `spec.nodeSelector selects only nodes outside of the node set (${shown}): check ${field}`;
}

/** A problem of a policy on a node, as the merge of either kind of policies reports it. */
interface Problem {
  readonly policyName: string;
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly field: string;
  readonly message: string;
}

/**
 * Returns the first error of the policy and its first warning, as texts. Problems with code `counted` are left out of the
 * warnings, since the summary counts nodes without a matching NIC.
 */
export function firstProblems(
  policyName: string,
  problems: readonly Problem[],
  counted: string,
): { readonly error: string | undefined; readonly warning: string | undefined } {
  const own = problems.filter((problem) => problem.policyName === policyName);
  const error = own.find(({ severity }) => severity === "error");
  const warning = own.find(({ code }) => code !== counted);
  return { error: error && textOf(error), warning: warning && textOf(warning) };
}

function textOf({ field, message }: Problem): string {
  return `${field}: ${message}`;
}

/** "worker-1: spec.interfaces[0].numVfs: …; 3 more nodes". */
function firstOf(outcomes: readonly Pick<NodeOutcome, "node" | "message">[]): string {
  const [first] = outcomes.toSorted(byName);
  const text = `${first?.node ?? ""}: ${first?.message ?? ""}`;
  const more = outcomes.length - 1;
  if (more < 1) return text;
  return more === 1 ? `${text}; 1 more node` : `${text}; ${more} more nodes`;
}

function byName(a: Pick<NodeOutcome, "node">, b: Pick<NodeOutcome, "node">): number {
  return a.node < b.node ? -1 : 1;
}

function listNodes(outcomes: readonly NodeOutcome[]): string {
  const names = outcomes.map(({ node }) => node).sort();
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}
