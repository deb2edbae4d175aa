// SPDX-License-Identifier: Apache-2.0
/**
 * admit decides whether a change of one of Switchyard's objects may be stored, and describes its impact on nodes and pods
 * (sriov-operator.md E). It reports all problems at once. The webhook and the command line both call it.
 *
 * An update is not refused for a violation that the stored object already has; the violation becomes a warning. Otherwise
 * an old object could not be repaired step by step, and the operator could not remove finalizers from it.
 * Usage: `admit({ kind: "SriovNetworkNodePolicy", operation: "CREATE", object }, view, { nowMs: () => performance.now() })`.
 */
import {
  operatorConfigName,
  type AfxdpOperatorConfig,
  type SriovNetworkNodePolicy,
  type SriovOperatorConfig,
} from "@switchyard/api";
import type { ClusterView } from "./cluster-view.ts";
import { applyDefaults, type PatchOperation } from "./defaults.ts";
import { cutLine, describeFinding, refuse, type ReviewFinding, type Problem } from "./finding.ts";
import { impactWarnings, maxWarningLength, maxWarnings } from "./impact/impact-warnings.ts";
import { impactOf } from "./impact/impact.ts";
import { createAdmissionCache, isIgnoredPolicy, policyContext, type AdmissionCache } from "./policy-context.ts";
import { policyFindings } from "./policy-findings.ts";
import type { ReviewedChange, Review, ReviewedNetwork } from "./review.ts";
import { checkAfxdpPolicy } from "./rules/afxdp-policy.ts";
import { checkNetwork } from "./rules/network.ts";
import { checkNodeSetLabels, nodeSetWarnings } from "./rules/node-set.ts";
import { checkAfxdpOperatorConfig, checkDrainSwitch, checkOperatorConfig } from "./rules/operator-config.ts";
import { checkOvnOffload, offloadReboots } from "./rules/ovn-offload.ts";
import { loweredMtu } from "./rules/pf-limits.ts";
import { checkPool, checkPoolOffload, checkPoolOverlap, checkPoolSelector, checkRdmaMode } from "./rules/pool.ts";

const reserved = "__proto__";

export interface AdmissionResult {
  readonly allowed: boolean;
  /** Why the change is refused; empty if it is allowed. */
  readonly problems: readonly Problem[];
  /** At most 10 lines of at most 200 characters. */
  readonly warnings: readonly string[];
  /** The defaults to fill in; empty if none is missing. */
  readonly patch: readonly PatchOperation[];
}

export interface AdmitOptions {
  /** A monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** Time for computing the impact; 150 ms unless given. */
  readonly impactBudgetMs?: number;
  /** Makes further reviews of the same cluster faster. Without one, each review computes everything itself. */
  readonly cache?: AdmissionCache;
}

/** A review must be answered within 300 ms. */
const defaultImpactBudgetMs = 150;

export function admit(review: Review, view: ClusterView, options: AdmitOptions): AdmissionResult {
  switch (review.kind) {
    case "SriovNetworkNodePolicy":
      return admitPolicy(review, view, { ...options, cache: options.cache ?? createAdmissionCache() });
    case "SriovNetworkPoolConfig":
      return resultOf(
        findingsOf(review, (pool) => [
          ...checkPool(pool, view),
          ...checkPoolSelector(pool, view),
          ...checkPoolOverlap(pool, view),
          ...checkPoolOffload(pool, view),
          ...checkRdmaMode(pool, view),
        ]),
      );
    case "SriovOperatorConfig":
      return admitOperatorConfig(review, view);
    case "SriovNetwork":
    case "SriovIBNetwork":
    case "OVSNetwork":
    case "BridgeNetwork":
    case "AfxdpNetwork":
      return resultOf(findingsOf<ReviewedNetwork>(review, (network) => checkNetwork(network, view)));
    case "AfxdpNetworkNodePolicy":
      return resultOf(findingsOf(review, (policy) => checkAfxdpPolicy(policy, view)));
    case "AfxdpOperatorConfig":
      return resultOf([
        ...findingsOf(review, (config) => [...checkAfxdpOperatorConfig(config, view), ...checkNodeSetLabels(config)]),
        ...nodeSetChange(review, view),
      ]);
  }
}

function admitOperatorConfig(review: ReviewedChange<SriovOperatorConfig>, view: ClusterView): AdmissionResult {
  const before = review.operation === "CREATE" ? undefined : review.oldObject;
  const after = review.operation === "DELETE" ? undefined : review.object;
  return resultOf([
    ...findingsOf(review, (config) => [
      ...checkOperatorConfig(config, view),
      ...checkNodeSetLabels(config),
      ...checkOvnOffload(config, view),
    ]),
    ...nodeSetChange(review, view),
    ...(after === undefined ? [] : checkDrainSwitch(before, after, view)),
    ...offloadReboots(before, after, view),
  ]);
}

/** Nothing is said about a configuration that is not used, and about an update that leaves the selector as it is. */
function nodeSetChange(
  review: ReviewedChange<SriovOperatorConfig> | ReviewedChange<AfxdpOperatorConfig>,
  view: ClusterView,
): readonly ReviewFinding[] {
  if (review.operation === "DELETE") return [];
  const { object } = review;
  const { name, namespace } = object.metadata;
  const before = review.operation === "UPDATE" ? review.oldObject : undefined;
  const selectorOf = ({ spec }: SriovOperatorConfig | AfxdpOperatorConfig) =>
    JSON.stringify(spec?.configDaemonNodeSelector);
  if (name !== operatorConfigName || namespace !== view.namespace) return [];
  if (before !== undefined && selectorOf(before) === selectorOf(object)) return [];
  return nodeSetWarnings(before, object, view);
}

type PolicyOptions = AdmitOptions & { readonly cache: AdmissionCache };

function admitPolicy(
  review: ReviewedChange<SriovNetworkNodePolicy>,
  view: ClusterView,
  options: PolicyOptions,
): AdmissionResult {
  if (review.operation === "DELETE") return resultOf([], describeImpact(review, view, options));
  const { object, patch, findings } = applyDefaults(review);
  const change = { ...review, object };
  const result = resultOf([
    ...findings,
    ...findingsOf(change, (policy) => policyFindings(policy, view, options.cache)),
    ...(review.operation === "UPDATE" && !isIgnoredPolicy(object)
      ? loweredMtu(review.oldObject, object, policyContext(object, view, options.cache))
      : []),
  ]);
  if (!result.allowed) return { ...result, patch };
  const room = maxWarnings - result.warnings.length;
  const lines = room > 0 ? describeImpact(change, view, options, room) : [];
  return { ...result, patch, warnings: [...result.warnings, ...lines] };
}

/** Returns no lines for a policy that the operator ignores. */
function describeImpact(
  change: ReviewedChange<SriovNetworkNodePolicy>,
  view: ClusterView,
  { nowMs, impactBudgetMs = defaultImpactBudgetMs, cache }: PolicyOptions,
  maxLines = maxWarnings,
): readonly string[] {
  const policy = change.operation === "DELETE" ? change.oldObject : change.object;
  if (policy.metadata.namespace !== view.namespace || isIgnoredPolicy(policy)) return [];
  if (change.operation === "UPDATE" && JSON.stringify(change.oldObject.spec) === JSON.stringify(policy.spec)) return [];
  const others = view.policies.filter(({ metadata }) => metadata.name !== policy.metadata.name);
  const before = change.operation === "CREATE" ? others : [...others, change.oldObject];
  const after = change.operation === "DELETE" ? others : [...others, policy];
  const impact = impactOf({ before, after }, view, { nowMs, budgetMs: impactBudgetMs, cache });
  const { operatorConfig, podsOn } = view;
  return impactWarnings(impact, { disableDrain: operatorConfig?.spec?.disableDrain === true, podsOn, maxLines });
}

/** The findings about the new object. In an update, refusals that also apply to the old object become warnings. */
function findingsOf<T>(
  change: ReviewedChange<T>,
  check: (object: T) => readonly ReviewFinding[],
): readonly ReviewFinding[] {
  if (change.operation === "DELETE") return [];
  const checkAll = (object: T) => [...checkReservedKeys(object), ...check(object)];
  const findings = checkAll(change.object);
  const isRefused = findings.some(({ severity }) => severity === "refusal");
  return change.operation === "UPDATE" && isRefused ? toleratingOld(findings, checkAll(change.oldObject)) : findings;
}

function toleratingOld(findings: readonly ReviewFinding[], old: readonly ReviewFinding[]): readonly ReviewFinding[] {
  const known = new Set(old.map(describeFinding));
  return findings.map((finding) =>
    known.has(describeFinding(finding)) || isNoLarger(finding, old) ? { ...finding, severity: "warning" } : finding,
  );
}

/** Whether the old object has the same violation on all nodes of the new one, to at least the same extent. */
function isNoLarger({ field, violation }: ReviewFinding, old: readonly ReviewFinding[]): boolean {
  if (violation === undefined) return false;
  const { code, nodes, amount } = violation;
  const same = old.flatMap((one) => (one.field === field && one.violation?.code === code ? [one.violation] : []));
  const covers = (node: string | undefined): boolean =>
    same.some((one) => one.amount >= amount && (node === undefined || one.nodes?.includes(node) === true));
  return nodes === undefined ? covers(undefined) : nodes.every(covers);
}

function resultOf(findings: readonly ReviewFinding[], impactLines: readonly string[] = []): AdmissionResult {
  const problems = findings.filter(({ severity }) => severity === "refusal");
  const lines = findings.filter(({ severity }) => severity === "warning").map(describeFinding);
  return {
    allowed: problems.length === 0,
    problems: problems.map(({ field, message }) => ({ field, message })),
    warnings: [...lines.slice(0, maxWarnings).map((line) => cutLine(line, maxWarningLength)), ...impactLines],
    patch: [],
  };
}

/**
 * checkReservedKeys refuses the key `__proto__` wherever users choose keys, such as in labels and external ids. In
 * JavaScript `__proto__` is not data but the object's prototype. Parsing it as JSON is harmless, but a program that copies
 * an object key by key would not get what the user wrote.
 * `object` is JSON whose nesting is limited, because the check is recursive.
 */
function checkReservedKeys(object: unknown, path = ""): readonly ReviewFinding[] {
  if (Array.isArray(object))
    return object.flatMap((item: unknown, index) => checkReservedKeys(item, `${path}[${index}]`));
  if (typeof object !== "object" || object === null) return [];
  return Object.entries(object).flatMap(([key, value]: [string, unknown]) => {
    const field = path === "" ? key : `${path}.${key}`;
    return key === reserved
      ? [refuse(field, `the key "${reserved}" is reserved: use another one`)]
      : checkReservedKeys(value, field);
  });
}
