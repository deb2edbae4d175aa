// SPDX-License-Identifier: Apache-2.0
/** createPolicyStatusReconciler writes the status of one SriovNetworkNodePolicy (policy-status.ts). */
import { policyReasons, type Node, type SriovNetworkNodePolicy } from "@switchyard/api";
import type { Cache, Reconcile, Writer } from "@switchyard/kube";
import { couldMatchNic, idleEntries } from "@switchyard/policy";
import type { LiveRules } from "../facts/live-rules.ts";
import { isReady, withoutOperatorConfig, type ConditionSummary } from "../reports/condition-summary.ts";
import { progressOf, silenceOf, waitOf } from "../results/node-progress.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { createPolicyStatus } from "./policy-status.ts";
import { firstProblems, type NodeOutcome } from "./policy-summary.ts";
import type { RecordTransition } from "../reports/transition-events.ts";
import type { MergeResult, MergeResults } from "../results/merge-results.ts";
import { isUpToDate } from "../results/node-results.ts";

export interface PolicyStatusDeps {
  readonly policies: Cache<SriovNetworkNodePolicy>;
  readonly nodes: Cache<Node>;
  readonly states: Cache<CachedNodeState>;
  readonly rules: LiveRules;
  readonly mergeResults: MergeResults;
  readonly writer: Writer<SriovNetworkNodePolicy>;
  readonly recordTransition: RecordTransition;
  readonly now: () => Date;
}

const ignored: ConditionSummary = {
  state: "idle",
  reason: policyReasons.ignored,
  message: 'a policy named "default" is never applied; use another name',
};

export function createPolicyStatusReconciler(deps: PolicyStatusDeps): Reconcile {
  return createPolicyStatus<SriovNetworkNodePolicy>({
    ...deps,
    configKind: "SriovOperatorConfig",
    idleEntries({ spec }, nodes) {
      const nics = nodes.flatMap((node) => deps.states.get(node)?.interfaces ?? []);
      return idleEntries(spec.nicSelector, nics, couldMatchNic);
    },
    rulesFor(policy) {
      const rules = deps.rules();
      if (rules === undefined) return withoutOperatorConfig;
      const isApplied = rules.policies.some(({ metadata }) => metadata.name === policy.metadata.name);
      return isApplied ? rules : ignored;
    },
    outcomeOn(policy, node) {
      const result = deps.mergeResults.get(node);
      const state = deps.states.get(node);
      if (!isUpToDate(result, policy, state?.interfaces ?? [])) return undefined;
      const outcome = outcomeOn(policy, result, { state, nowMs: deps.now().getTime() });
      if (outcome.kind !== "failed" || !outcome.message.startsWith("numVfs: ")) return outcome;
      return { ...outcome, message: `${outcome.message}${requestedBy(policy, result, deps.policies)}` };
    },
  });
}

/**
 * A PF gets the largest numVfs of its policies, so a policy can fail by the request of another one. Returns that one's name and
 * number, to be added to the failure; empty if the policy itself requests as many.
 */
function requestedBy(
  { metadata: { name }, spec: { numVfs } }: SriovNetworkNodePolicy,
  { matches, spec }: Pick<MergeResult, "matches" | "spec">,
  policies: PolicyStatusDeps["policies"],
): string {
  const own = new Set(matches.find(({ policyName }) => policyName === name)?.pciAddresses);
  const larger = (spec.interfaces ?? []).find((pf) => own.has(pf.pciAddress) && (pf.numVfs ?? 0) > numVfs);
  if (larger === undefined) return "";
  const { pciAddress, numVfs: most = 0 } = larger;
  // A policy can ask for VFs of a PF of which others get all.
  const asking = matches.filter(({ pciAddresses }) => pciAddresses.includes(pciAddress));
  const other = asking.find(({ policyName }) => policies.get(policyName)?.spec.numVfs === most);
  return other === undefined ? "" : ` (policy ${other.policyName} requests ${most}, this one ${numVfs})`;
}

function outcomeOn(
  policy: SriovNetworkNodePolicy,
  { problems, matches, spec }: MergeResult,
  { state, nowMs }: { readonly state: CachedNodeState | undefined; readonly nowMs: number },
): Omit<NodeOutcome, "node"> {
  const { name } = policy.metadata;
  const { error, warning } = firstProblems(name, problems, "no-match");
  const pciAddresses = matches.find(({ policyName }) => policyName === name)?.pciAddresses ?? [];
  const isReported = state !== undefined && state.interfaces.length > 0;
  const common = { portCount: pciAddresses.length, isReported };
  if (error !== undefined) return { ...common, kind: "invalid", message: error };
  const waits = waitOf(state, nowMs) ?? "";
  if (!isReported) return { ...common, kind: "configuring", message: waits, warning };
  if (pciAddresses.length === 0) return { ...common, kind: "no-nic", message: "" };
  const progress = progressOf(state, spec, { pciAddresses, wasReady: isReady(policy) });
  const silence = silenceOf(state, nowMs);
  const recheckInMs = silence !== undefined && "inMs" in silence ? silence.inMs : undefined;
  const silent = silence !== undefined && "message" in silence ? `its config daemon ${silence.message}` : undefined;
  switch (progress.kind) {
    case "failed":
      return { ...common, kind: "failed", message: progress.message, warning };
    case "configuring":
      return { ...common, kind: "configuring", message: waits, warning, recheckInMs };
    case "ready":
      return { ...common, kind: "ready", message: "", warning: warning ?? silent, recheckInMs };
  }
}
