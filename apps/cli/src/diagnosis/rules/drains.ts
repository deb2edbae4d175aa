// SPDX-License-Identifier: Apache-2.0
/**
 * Drains that wait, as the annotations of the drain protocol show them (sriov-operator.md A.9), PodDisruptionBudgets that block
 * them, and nodes that stayed cordoned.
 */
import {
  afxdpResourcePrefix,
  annotations,
  conditionTypes,
  drainAnswers,
  drainRequests,
  type AfxdpNetworkNodeState,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { drainedVfs, holdersOf } from "@switchyard/policy";
import { at, isJsonObject, listAt, stringsAt, textAt, type JsonObject, type Manifest } from "../../json.ts";
import { findingOf, refOf, type Finding } from "../finding.ts";
import type { PodSummary } from "../pod-summary.ts";
import type { DetectedFinding } from "../rule.ts";
import { lastStatusWriteMs, type Snapshot } from "../snapshot.ts";

const drainLimitMs = 15 * 60_000;

/** The node state by which a node is drained. */
type Carrier = SriovNetworkNodeState | AfxdpNetworkNodeState;

export function findDrains(snapshot: Snapshot): readonly DetectedFinding[] {
  const carriers = carriersOf(snapshot);
  const draining = [...carriers.values()].filter((state) => answerOf(state) === drainAnswers.draining);
  return [
    ...[...carriers.values()].flatMap((state) => waiting(state, { snapshot, draining })),
    ...blockingBudgets(draining, snapshot),
    ...[...snapshot.nodes].flatMap(([name, facts]) => {
      const state = carriers.get(name);
      const by = facts.annotations[annotations.cordonedBy];
      if (by === undefined || !facts.isUnschedulable || state === undefined || isRequested(state)) return [];
      if (answerOf(state) !== drainAnswers.idle && answerOf(state) !== undefined) return [];
      const evidence = [`annotation ${annotations.cordonedBy}: ${by}`, `annotation ${annotations.currentState}: Idle`];
      return [
        findingOf("NodeLeftCordoned", {
          object: { kind: "Node", name },
          field: "spec.unschedulable",
          evidence,
          message: "the node is cordoned for a drain that has ended",
        }),
      ];
    }),
  ];
}

/** By node: the SriovNetworkNodeState or, on a node without one, the AfxdpNetworkNodeState. */
function carriersOf({ cluster }: Snapshot): ReadonlyMap<string, Carrier> {
  return new Map<string, Carrier>([...cluster.afxdp.states, ...cluster.states]);
}

function answerOf({ metadata }: Carrier): string | undefined {
  return metadata.annotations?.[annotations.currentState];
}

function isRequested({ metadata }: Carrier): boolean {
  const request = metadata.annotations?.[annotations.desiredState];
  return request !== undefined && request !== drainRequests.idle;
}

/** The conditions about drains say the same with details; the Go operator has none. */
function waiting(
  state: Carrier,
  { snapshot, draining }: { readonly snapshot: Snapshot; readonly draining: readonly Carrier[] },
): readonly Finding[] {
  const hasConditions = listAt(state, "status", "conditions").some(
    (condition) => textAt(condition, "type") === conditionTypes.drainProgressing,
  );
  if (hasConditions || !isRequested(state) || answerOf(state) === drainAnswers.complete) return [];
  const { name } = state.metadata;
  const object = { kind: state.kind, namespace: snapshot.namespace, name };
  const request = state.metadata.annotations?.[annotations.desiredState] ?? "";
  const evidence = [
    `annotation ${annotations.desiredState}: ${request}`,
    `annotation ${annotations.currentState}: ${answerOf(state) ?? "absent"}`,
  ];
  if (answerOf(state) !== drainAnswers.draining) {
    const names = draining.map(({ metadata }) => metadata.name).slice(0, 5);
    const message = `the node waits to be drained${names.length === 0 ? "" : `; ${names.join(", ")} is being drained`}`;
    return [findingOf("DrainWaits", { object, message, evidence })];
  }
  const writtenMs = lastStatusWriteMs(state);
  if (writtenMs !== undefined && snapshot.takenAtMs - writtenMs < drainLimitMs) return [];
  const users = snapshot.pods.filter((pod) => pod.node === name && usesDevices(pod, snapshot)).map(nameOfPod);
  const message =
    users.length === 0
      ? "the node is being drained, and no pod on it requests devices"
      : `the node is being drained, and these pods stay: ${users.slice(0, 5).join(", ")}`;
  return [findingOf("DrainTakesLong", { object, message, evidence })];
}

function blockingBudgets(draining: readonly Carrier[], snapshot: Snapshot): readonly DetectedFinding[] {
  const leavesOn = new Map(draining.map((state) => [state.metadata.name, leavingPods(state)]));
  const mustLeave = (pod: PodSummary): boolean => {
    const leaves = pod.node === undefined ? undefined : leavesOn.get(pod.node);
    return leaves === undefined ? false : leaves(pod);
  };
  return snapshot.objectsOf("PodDisruptionBudget").flatMap((budget) => {
    if (at(budget.object, "status", "disruptionsAllowed") !== 0) return [];
    const held = snapshot.pods.filter(
      (pod) => mustLeave(pod) && pod.namespace === budget.namespace && isOf(budget, pod),
    );
    const [first] = held;
    if (first === undefined) return [];
    const pods = held.slice(0, 5).map((pod) => `${nameOfPod(pod)} on ${pod.node ?? ""}`);
    const counts = ["currentHealthy", "desiredHealthy", "expectedPods"].map(
      (key) => `status.${key}: ${String(at(budget.object, "status", key))}`,
    );
    const finding = findingOf("DisruptionBudgetBlocksDrain", {
      object: refOf(budget),
      field: "status.disruptionsAllowed",
      evidence: counts,
      message: `allows no disruption, so these pods cannot be evicted: ${pods.join(", ")}`,
    });
    return [{ ...finding, nodes: held.flatMap(({ node }) => node ?? []) }];
  });
}

/** The pods that leave a node: those that have the VFs of its drain, or possibly all if it is drained as a whole. */
function leavingPods(state: Carrier): (pod: PodSummary) => boolean {
  const vfs = drainedVfs(state);
  if (vfs === undefined || state.kind !== "SriovNetworkNodeState") return () => true;
  const { holders, unknown } = holdersOf(state.status ?? {}, vfs);
  if (unknown !== undefined) return () => true;
  return ({ namespace, name }) => holders.some((one) => one.namespace === namespace && one.name === name);
}

function isOf(budget: Manifest, pod: PodSummary): boolean {
  const selector = at(budget.object, "spec", "selector");
  return isJsonObject(selector) && selectsPods(selector, pod.labels);
}

/** Whether the pod requests a resource of Switchyard or a claim. */
export function usesDevices(pod: PodSummary, { resourcePrefix }: Snapshot): boolean {
  const prefixes = [`${resourcePrefix}/`, `${afxdpResourcePrefix}/`];
  return (
    pod.claims.length > 0 || [...pod.requests.keys()].some((name) => prefixes.some((prefix) => name.startsWith(prefix)))
  );
}

/** "apps/client-0". */
export function nameOfPod({ namespace, name }: PodSummary): string {
  return `${namespace}/${name}`;
}

/**
 * selectsPods decides whether a metav1.LabelSelector of a file or cluster selects labels.
 * An empty selector selects everything; a malformed requirement selects nothing.
 */
function selectsPods(selector: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  const required = Object.entries(stringsAt(selector, "matchLabels"));
  return (
    required.every(([key, value]) => labels[key] === value) &&
    listAt(selector, "matchExpressions").every((requirement) => {
      const [key = "", operator] = [textAt(requirement, "key"), textAt(requirement, "operator")];
      const values = listAt(requirement, "values");
      const has = Object.hasOwn(labels, key);
      if (operator === "In") return has && values.includes(labels[key]);
      if (operator === "NotIn") return !has || !values.includes(labels[key]);
      if (operator === "Exists") return has;
      return operator === "DoesNotExist" && !has;
    })
  );
}
