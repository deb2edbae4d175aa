// SPDX-License-Identifier: Apache-2.0
/**
 * createAfxdpPolicyStatusReconciler writes the status of one AfxdpNetworkNodePolicy: how many nodes it selects, how many of
 * them are configured, and what is wrong on which node.
 */
import {
  policyReasons,
  type AfxdpLoadedProgram,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
  type Node,
} from "@switchyard/api";
import { equalJson, type Cache, type Reconcile, type Writer } from "@switchyard/kube";
import { deviceKey, hasLabels, isInNodeSet, labelsOf, subfunctionKey } from "@switchyard/policy";
import { conditionsFor, type ConditionSummary } from "../reports/condition-summary.ts";
import { isUpToDate } from "../results/node-results.ts";
import { firstProblems, policySummary, type NodeOutcome } from "../status/policy-summary.ts";
import type { RecordTransition } from "../reports/transition-events.ts";
import type { AfxdpLiveRules } from "../facts/afxdp-live-rules.ts";
import type { AfxdpMergeResult, AfxdpMergeResults } from "../results/afxdp-merge-results.ts";

export interface AfxdpPolicyStatusDeps {
  readonly afxdpPolicies: Cache<AfxdpNetworkNodePolicy>;
  readonly afxdpStates: Cache<AfxdpNetworkNodeState>;
  readonly nodes: Cache<Node>;
  readonly rules: AfxdpLiveRules;
  readonly results: AfxdpMergeResults;
  readonly writer: Pick<Writer<AfxdpNetworkNodePolicy>, "applyStatus">;
  readonly recordTransition: RecordTransition;
  readonly now: () => Date;
}

const withoutConfig: ConditionSummary = {
  state: "idle",
  reason: policyReasons.noOperatorConfig,
  message: 'AfxdpOperatorConfig "default" does not exist in this namespace; the operator manages no AF_XDP devices',
};

/** Merge results are missing or old after a start or a change. New results enqueue the key, too. */
const mergePending = { afterMs: 200 };

export function createAfxdpPolicyStatusReconciler(deps: AfxdpPolicyStatusDeps): Reconcile {
  return async function reconcile(name, signal) {
    const policy = deps.afxdpPolicies.get(name);
    if (policy === undefined) return undefined;
    const outcomes = outcomesOf(policy, deps);
    if (outcomes === "pending") return mergePending;
    const summary = outcomes === undefined ? withoutConfig : policySummary(outcomes, policy.spec);
    const { generation = 0 } = policy.metadata;
    const result = await deps.writer.applyStatus(
      {
        metadata: { name },
        status: {
          conditions: conditionsFor(summary, policy.status?.conditions ?? [], generation, deps.now()),
          observedGeneration: generation,
          matchedNodeCount: outcomes?.length ?? 0,
          readyNodeCount: outcomes?.filter(({ kind }) => kind === "ready").length ?? 0,
        },
      },
      signal,
    );
    if (result === "written") deps.recordTransition(policy, summary);
    return undefined;
  };
}

/** Returns undefined without AfxdpOperatorConfig, and "pending" if the merge result of a node is missing or old. */
function outcomesOf(
  policy: AfxdpNetworkNodePolicy,
  { nodes, rules, results, afxdpStates }: AfxdpPolicyStatusDeps,
): readonly NodeOutcome[] | "pending" | undefined {
  const live = rules();
  if (live === undefined) return undefined;
  const outcomes: NodeOutcome[] = [];
  for (const node of nodes.list()) {
    if (!isInNodeSet(node, live.rules) || !hasLabels(labelsOf(node), policy.spec.nodeSelector)) continue;
    const { name } = node.metadata;
    const result = results.get(name);
    const state = afxdpStates.get(name);
    if (!isUpToDate(result, policy, state?.status?.interfaces)) return "pending";
    const portCount = devicesOf(policy, result).length;
    outcomes.push({ node: name, portCount, ...outcomeOn(policy, result, state) });
  }
  return outcomes;
}

type Outcome = Omit<NodeOutcome, "node" | "portCount">;

/** The ids of the devices that the policy has on the node. */
function devicesOf({ metadata }: AfxdpNetworkNodePolicy, { matches }: AfxdpMergeResult): readonly string[] {
  return matches.find(({ policyName }) => policyName === metadata.name)?.devices ?? [];
}

function outcomeOn(
  policy: AfxdpNetworkNodePolicy,
  result: AfxdpMergeResult,
  state: AfxdpNetworkNodeState | undefined,
): Outcome {
  const { name } = policy.metadata;
  const { poolName } = policy.spec;
  const { problems, spec } = result;
  const { error, warning } = firstProblems(name, problems, "no-device");
  if (error !== undefined) return { kind: "invalid", message: error };
  const configuring = { kind: "configuring", message: "", warning } as const;
  const status = state?.status ?? {};
  if ((status.interfaces ?? []).length === 0) return configuring;
  if (devicesOf(policy, result).length === 0) return { kind: "no-nic", message: "" };
  if (!equalJson(state?.spec ?? {}, spec)) return configuring; // the cache does not show the last write yet
  if ((status.observedGeneration ?? 0) < (state?.metadata.generation ?? 0)) return configuring;
  if (status.syncStatus === "Failed") return { kind: "failed", message: status.lastSyncError ?? "" };
  const programs = programsOf(poolName, state);
  const failed = programs.find(({ error }) => error !== undefined);
  if (failed?.error)
    return { kind: "failed", message: `pool ${poolName}: device ${failed.interfaceName}: ${failed.error}` };
  // The device plugin reports these devices as not healthy, which is no failure while bpfman loads their programs.
  if (programs.some(({ programID, release }) => programID === undefined && release !== true)) return configuring;
  const pool = status.pools?.find((one) => one.name === poolName);
  if (pool?.error) return { kind: "failed", message: `pool ${poolName}: ${pool.error}` };
  return status.syncStatus === "Succeeded" ? { kind: "ready", message: "", warning } : configuring;
}

/** Returns the programs that bpfman loads for the devices of the pool. */
function programsOf(poolName: string, state: AfxdpNetworkNodeState | undefined): readonly AfxdpLoadedProgram[] {
  const inPool = (state?.spec?.interfaces ?? []).filter((one) => one.poolName === poolName).map(deviceKey);
  const belongs = (device: string) =>
    inPool.some((key) => device === key || device.startsWith(subfunctionKey(key, "")));
  return (state?.status?.programs ?? []).filter(({ device }) => belongs(device));
}
