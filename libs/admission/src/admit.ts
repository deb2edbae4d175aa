// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a change of one of our objects may be stored, why not, and what it will disturb (sriov-operator.md E). All
 * problems are told at once. The same for the webhook and the CLI.
 *
 * An update is not refused for what was wrong before it: then no old object could be repaired step by step, and the
 * operator could not take away its finalizers. Such problems come as warnings.
 * Usage: `admit({ kind: "SriovNetworkNodePolicy", operation: "CREATE", object }, view, { nowMs: () => performance.now() })`.
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import type { ClusterView } from "./cluster-view.ts";
import { applyDefaults, type PatchOperation } from "./defaults.ts";
import { describeFinding, type Finding } from "./finding.ts";
import { isIgnoredPolicy } from "./ignored-policy.ts";
import { impactOf } from "./impact.ts";
import { impactWarnings, longestWarning, mostWarnings } from "./impact-warnings.ts";
import { clip } from "./phrase.ts";
import { policyFindings } from "./policy-rules.ts";
import type { Problem } from "./refusal.ts";
import type { Change, Review, ReviewedNetwork } from "./review.ts";
import { checkNetwork } from "./rules/network.ts";
import { checkKeys } from "./rules/object-keys.ts";
import { checkDrainSwitch, checkOperatorConfig } from "./rules/operator-config.ts";
import { checkPool, checkPoolOverlap } from "./rules/pool.ts";
import { checkRdmaMode } from "./rules/rdma-mode.ts";

/** The answer. */
export interface Verdict {
  readonly allowed: boolean;
  /** Why not; empty where allowed. */
  readonly problems: readonly Problem[];
  /** At most 10 lines of at most 200 characters. */
  readonly warnings: readonly string[];
  /** What fills in the defaults; empty where nothing was missing. */
  readonly patch: readonly PatchOperation[];
}

export interface AdmitOptions {
  /** A clock that only goes forward, to stay within the time. */
  readonly nowMs: () => number;
  /** How long the impact may be looked at. */
  readonly impactBudgetMs?: number;
}

/** Leaves time for all else within the 300 ms that an answer may take. */
const defaultImpactBudgetMs = 150;

export function admit(review: Review, view: ClusterView, options: AdmitOptions): Verdict {
  switch (review.kind) {
    case "SriovNetworkNodePolicy":
      return admitPolicy(review, view, options);
    case "SriovNetworkPoolConfig":
      return verdict(
        judge(review, (pool) => [
          ...checkPool(pool, view),
          ...checkPoolOverlap(pool, view),
          ...checkRdmaMode(pool, view),
        ]),
      );
    case "SriovOperatorConfig":
      return verdict([
        ...judge(review, (config) => checkOperatorConfig(config, view)),
        ...(review.operation === "DELETE"
          ? []
          : checkDrainSwitch(review.operation === "UPDATE" ? review.oldObject : undefined, review.object, view)),
      ]);
    case "SriovNetwork":
    case "SriovIBNetwork":
    case "OVSNetwork":
    case "BridgeNetwork":
      return verdict(judge<ReviewedNetwork>(review, (network) => checkNetwork(network, view)));
  }
}

function admitPolicy(review: Change<SriovNetworkNodePolicy>, view: ClusterView, options: AdmitOptions): Verdict {
  if (review.operation === "DELETE") return verdict([], impactLines(review, view, options));
  const { object, patch, findings } = applyDefaults(review);
  const change = { ...review, object };
  const judged = verdict([...findings, ...judge(change, (policy) => policyFindings(policy, view))]);
  if (!judged.allowed) return { ...judged, patch };
  const room = mostWarnings - judged.warnings.length;
  const lines = room > 0 ? impactLines(change, view, options, room) : [];
  return { ...judged, patch, warnings: [...judged.warnings, ...lines] };
}

/** What the change does to the nodes; nothing where nobody looks at the policy. */
function impactLines(
  change: Change<SriovNetworkNodePolicy>,
  view: ClusterView,
  { nowMs, impactBudgetMs = defaultImpactBudgetMs }: AdmitOptions,
  most = mostWarnings,
): readonly string[] {
  const policy = change.operation === "DELETE" ? change.oldObject : change.object;
  if (policy.metadata.namespace !== view.namespace || isIgnoredPolicy(policy)) return [];
  if (change.operation === "UPDATE" && JSON.stringify(change.oldObject.spec) === JSON.stringify(policy.spec)) return [];
  const others = view.policies.filter(({ metadata }) => metadata.name !== policy.metadata.name);
  const before = change.operation === "CREATE" ? others : [...others, change.oldObject];
  const after = change.operation === "DELETE" ? others : [...others, policy];
  const impact = impactOf({ before, after }, view, { nowMs, budgetMs: impactBudgetMs });
  const { operatorConfig, podsOn } = view;
  return impactWarnings(impact, { disableDrain: operatorConfig?.spec?.disableDrain === true, podsOn, most });
}

/** Findings of the object as it shall be; those that it had before as warnings. */
function judge<T>(change: Change<T>, check: (object: T) => readonly Finding[]): readonly Finding[] {
  if (change.operation === "DELETE") return [];
  const checkAll = (object: T) => [...checkKeys(object), ...check(object)];
  const findings = checkAll(change.object);
  const isRefused = findings.some(({ severity }) => severity === "refusal");
  return change.operation === "UPDATE" && isRefused ? forgive(findings, checkAll(change.oldObject)) : findings;
}

function forgive(findings: readonly Finding[], old: readonly Finding[]): readonly Finding[] {
  const known = new Set(old.map(describeFinding));
  return findings.map((finding) =>
    known.has(describeFinding(finding)) ? { ...finding, severity: "warning" } : finding,
  );
}

function verdict(findings: readonly Finding[], more: readonly string[] = []): Verdict {
  const problems = findings.filter(({ severity }) => severity === "refusal");
  const lines = findings.filter(({ severity }) => severity === "warning").map(describeFinding);
  const shown = lines.length <= mostWarnings ? lines : lines.slice(0, mostWarnings);
  return {
    allowed: problems.length === 0,
    problems: problems.map(({ field, message }) => ({ field, message })),
    warnings: [...shown.map((line) => clip(line, longestWarning)), ...more],
    patch: [],
  };
}
