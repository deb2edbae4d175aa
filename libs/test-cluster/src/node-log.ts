// SPDX-License-Identifier: Apache-2.0
/**
 * logNodeChanges prints each change of a node state or a policy as one line.
 * Usage: `await using news = logNodeChanges(transport, narrator)`
 */
import {
  annotations,
  conditionTypes,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  type InterfaceStatus,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type VfStatus,
} from "@switchyard/api";
import { watchObjects, type Cache, type Transport } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";
import type { Narrator } from "./narrator.ts";
import { namespace, type TestCluster } from "./test-cluster.ts";

/** The watched objects. Disposing it ends the watches. */
export interface NodeLog extends AsyncDisposable {
  readonly states: Cache<SriovNetworkNodeState>;
  readonly policies: Cache<SriovNetworkNodePolicy>;
}

/** Watches node states and policies, and prints a line when the sync status, the drain or a condition changes. */
export function logNodeChanges(transport: Transport, narrator: Narrator): NodeLog {
  const common = { transport, namespace, report: () => undefined };
  const states = watchObjects({
    ...common,
    type: sriovNetworkNodeStates,
    project: (state: SriovNetworkNodeState) => state,
  });
  const policies = watchObjects({
    ...common,
    type: sriovNetworkNodePolicies,
    project: (policy: SriovNetworkNodePolicy) => policy,
  });
  const lastLines = new Map<string, string>();
  const printIfChanged = (object: string, text: string): void => {
    if (text === "" || lastLines.get(object) === text) return;
    lastLines.set(object, text);
    narrator.line(object, text);
  };
  states.subscribe(({ key, before, after }) => {
    if (after === undefined) return;
    printIfChanged(key, stateNews(after));
    const drain = drainNews(before, after);
    if (drain !== undefined) narrator.line(key, drain);
  });
  policies.subscribe(({ key, after }) => {
    if (after !== undefined) printIfChanged(`policy ${key}`, policyNews(after));
  });
  return {
    states,
    policies,
    async [Symbol.asyncDispose]() {
      await Promise.all([states[Symbol.asyncDispose](), policies[Symbol.asyncDispose]()]);
    },
  };
}

/** "Succeeded  [enp1s0f0 4/7 (4 igbvf) mtu 9000]"; "" before the first sync. */
function stateNews({ status = {} }: SriovNetworkNodeState): string {
  if (status.syncStatus === undefined || status.syncStatus === "") return "";
  const pfs = (status.interfaces ?? []).filter(({ totalvfs = 0 }) => totalvfs > 0).map(describePf);
  const error = status.lastSyncError ? `: ${status.lastSyncError}` : "";
  return `${status.syncStatus}${error}  [${pfs.join("; ")}]`;
}

/** The progress of the node's drain: "drain: 1 pod left: default/web-1". */
function drainNews(before: SriovNetworkNodeState | undefined, after: SriovNetworkNodeState): string | undefined {
  const answerOf = (state: SriovNetworkNodeState | undefined) =>
    state?.metadata.annotations?.[annotations.currentState] ?? "Idle";
  const messageOf = (state: SriovNetworkNodeState | undefined) =>
    state?.status?.conditions?.find(({ type }) => type === conditionTypes.drainProgressing)?.message;
  if (answerOf(after) === "Idle" && answerOf(before) !== "Idle") return "drain: complete, the node is schedulable";
  const message = messageOf(after);
  return message === undefined || message === messageOf(before) ? undefined : `drain: ${message}`;
}

function describePf({ name = "?", numVfs = 0, totalvfs = 0, mtu = 0, Vfs = [] }: InterfaceStatus): string {
  const drivers = Object.entries(Object.groupBy(Vfs, ({ driver = "no driver" }: VfStatus) => driver));
  const vfs = drivers.map(([driver, group]) => `${group?.length ?? 0} ${driver}`).join(", ");
  return `${name} ${numVfs}/${totalvfs}${vfs === "" ? "" : ` (${vfs})`}${mtu === 1500 ? "" : ` mtu ${mtu}`}`;
}

/** Returns "Ready (Reason): message". */
function policyNews({ status = {} }: SriovNetworkNodePolicy): string {
  const holds = (status.conditions ?? []).find(({ status: value }) => value === "True");
  const ready = (status.conditions ?? []).find(({ type }) => type === "Ready");
  const shown = holds ?? ready;
  return shown === undefined ? "" : `${holds?.type ?? "Not ready"} (${shown.reason}): ${shown.message}`;
}

/**
 * waitFor, eachNode and policyIs wait for the result of a change.
 * Waits for a condition of an object ("sriovnetwork/fast-net") by kubectl wait, as a pipeline does.
 */
export async function waitFor(cluster: TestCluster, object: string, type: string): Promise<void> {
  const output = await cluster.kubectl(["wait", `--for=condition=${type}`, object, "--timeout=60s"]);
  if (!output.includes("condition met")) throw new Error(`${object} is not ${type}: ${output}`);
}

/** Waits until there are this many node states and `holds` returns true for each. */
export async function eachNode(
  news: NodeLog,
  { nodes: count, withinMs }: { readonly nodes: number; readonly withinMs: number },
  what: string,
  holds: (state: SriovNetworkNodeState) => boolean,
): Promise<void> {
  const hold = (): boolean => news.states.size === count && news.states.list().every(holds);
  await eventually(`each node: ${what}`, hold, { withinMs });
}

/** Waits until the condition of a policy is True for its current generation. The cause of a rejection has its last status. */
export async function policyIs(news: NodeLog, name: string, type: string, withinMs = 30_000): Promise<void> {
  const holds = (): boolean => {
    const policy = news.policies.get(name);
    const { conditions = [], observedGeneration } = policy?.status ?? {};
    const holding = conditions.some((condition) => condition.type === type && condition.status === "True");
    if (holding && observedGeneration === policy?.metadata.generation) return true;
    throw new Error(`generation ${policy?.metadata.generation}, status ${JSON.stringify(policy?.status)}`);
  };
  await eventually(`policy ${name} ${type}`, holds, { withinMs });
}
