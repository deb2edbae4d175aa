// SPDX-License-Identifier: Apache-2.0
/** createAfxdpPolicyStatusReconciler writes the status of one AfxdpNetworkNodePolicy (../status/policy-status.ts). */
import {
  policyReasons,
  type AfxdpLoadedProgram,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
  type Node,
} from "@switchyard/api";
import { equalJson, type Cache, type Reconcile, type Writer } from "@switchyard/kube";
import { couldMatchDevice, deviceKey, idleEntries, poolVerdict, subfunctionKey } from "@switchyard/policy";
import type { ConditionSummary } from "../reports/condition-summary.ts";
import { failureOf } from "../facts/cached-node-state.ts";
import { isUpToDate } from "../results/node-results.ts";
import { createPolicyStatus } from "../status/policy-status.ts";
import { firstProblems, type NodeOutcome } from "../status/policy-summary.ts";
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

export function createAfxdpPolicyStatusReconciler(deps: AfxdpPolicyStatusDeps): Reconcile {
  const { afxdpPolicies, afxdpStates, results, rules } = deps;
  return createPolicyStatus<AfxdpNetworkNodePolicy>({
    ...deps,
    policies: afxdpPolicies,
    configKind: "AfxdpOperatorConfig",
    idleEntries({ spec }, nodes) {
      const nics = nodes.flatMap((node) => afxdpStates.get(node)?.status?.interfaces ?? []);
      return idleEntries(spec.nicSelector, nics, couldMatchDevice);
    },
    rulesFor: () => rules()?.rules ?? withoutConfig,
    outcomeOn(policy, node) {
      const result = results.get(node);
      const state = afxdpStates.get(node);
      if (!isUpToDate(result, policy, state?.status?.interfaces)) return undefined;
      const isReported = (state?.status?.interfaces ?? []).length > 0;
      return { portCount: devicesOf(policy, result).length, isReported, ...outcomeOn(policy, result, state) };
    },
  });
}

type Outcome = Omit<NodeOutcome, "node" | "portCount" | "isReported">;

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
  const failure = status.syncStatus === "InProgress" ? failureOf(status) : undefined;
  if (failure !== undefined) return { kind: "failed", message: failure };
  const programs = programsOf(poolName, state);
  const failed = programs.find(({ error }) => error !== undefined);
  if (failed?.error)
    return { kind: "failed", message: `pool ${poolName}: device ${failed.interfaceName}: ${failed.error}` };
  // The device plugin reports these devices as not healthy, which is no failure while bpfman loads their programs.
  if (programs.some(({ programID, release }) => programID === undefined && release !== true)) return configuring;
  const verdict = poolVerdict(poolName, { spec, status });
  return verdict.kind === "failed" ? verdict : { kind: verdict.kind, message: "", warning };
}

/** Returns the programs that bpfman loads for the devices of the pool. */
function programsOf(poolName: string, state: AfxdpNetworkNodeState | undefined): readonly AfxdpLoadedProgram[] {
  const inPool = (state?.spec?.interfaces ?? []).filter((one) => one.poolName === poolName).map(deviceKey);
  const belongs = (device: string) =>
    inPool.some((key) => device === key || device.startsWith(subfunctionKey(key, "")));
  return (state?.status?.programs ?? []).filter(({ device }) => belongs(device));
}
