// SPDX-License-Identifier: Apache-2.0
/** Conditions that report a problem, or that something has been in progress for long. The Go operator sets few of them. */
import { afxdpApiGroup, apiGroup, conditionTypes, customResources } from "@switchyard/api";
import { hasLabels, matchesNic } from "@switchyard/policy";
import { listAt, textAt, type Manifest } from "../../json.ts";
import { adviceOnReason, type ReasonTableName } from "../condition-advice.ts";
import { commandFor, findingOf, placesOf, refOf, resourceOf } from "../finding.ts";
import { reference } from "../reference.gen.ts";
import type { DetectedFinding } from "../rule.ts";
import { agoText, timeMs, type Snapshot } from "../snapshot.ts";
import { usesDevices } from "./drains.ts";

const progressLimitMs = 15 * 60_000;

/** Types of which True is a problem; Progressing and DrainProgressing are work in progress. */
const bad: readonly string[] = [
  conditionTypes.degraded,
  conditionTypes.drainDegraded,
  conditionTypes.rolledBack,
  conditionTypes.vfsUnhealthy,
  conditionTypes.waitingForLock,
  conditionTypes.reconcileFailed,
  conditionTypes.podsWaiting,
  conditionTypes.resetHeld,
];
const progress: readonly string[] = [conditionTypes.progressing, conditionTypes.drainProgressing];

export function findConditions(snapshot: Snapshot): readonly DetectedFinding[] {
  const kinds = customResources.map(({ kind }) => kind);
  return kinds.flatMap((kind) =>
    snapshot
      .objectsOf(kind)
      .filter(({ apiVersion }) => [apiGroup, afxdpApiGroup].includes(apiVersion.split("/")[0] ?? ""))
      .flatMap((manifest) => findingsOf(manifest, snapshot)),
  );
}

interface Reported {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
}

function findingsOf(manifest: Manifest, snapshot: Snapshot): readonly DetectedFinding[] {
  const conditions = listAt(manifest.object, "status", "conditions").map((condition): Reported => ({
    type: textAt(condition, "type") ?? "",
    status: textAt(condition, "status") ?? "",
    reason: textAt(condition, "reason") ?? "",
    message: textAt(condition, "message") ?? "",
    since: textAt(condition, "lastTransitionTime") ?? "",
  }));
  const isProgressing = conditions.some(({ type, status }) => type === conditionTypes.progressing && status === "True");
  // VFs are missing as long as a drain or a pass is pending.
  const telling = conditions.filter((each) => isTelling(each) && !(isProgressing && each.reason === "VfsMissing"));
  const byReason = Map.groupBy(telling, ({ type, reason }) => `${tableOf(manifest.kind, type)} ${reason}`);
  return [...byReason.values()].flatMap((same) => findingFrom(same, manifest, snapshot) ?? []);
}

/** Whether the condition says that something is wrong, unfinished, or unknown. */
function isTelling({ type, status }: Reported): boolean {
  if (bad.includes(type) || type === conditionTypes.progressing) return status === "True";
  if (type === conditionTypes.drainProgressing) return true;
  if (type === conditionTypes.drainComplete) return false;
  return status !== "True";
}

function findingFrom(same: readonly Reported[], manifest: Manifest, snapshot: Snapshot): DetectedFinding | undefined {
  const [main] = [...same].sort((a, b) => rank(a) - rank(b));
  if (main === undefined) return undefined;
  const table = tableOf(manifest.kind, main.type);
  const object = refOf(manifest);
  const evidence = same.map(
    ({ type, status, reason, since }) =>
      `condition ${type}=${status} (${reason}) since ${since}${agoText(since, snapshot)}`,
  );
  const message = main.message === "" ? `${main.type} is ${main.status}` : main.message;
  const values = { resource: resourceOf(manifest.kind), ...placesOf(manifest.name, snapshot) };
  const known = adviceOnReason(table, main.reason);
  if (known === undefined) {
    // A reason of success in an odd condition, or one of another version. Work in progress needs no finding.
    if (progress.includes(main.type) || meaningOfReason(table, main.reason) !== undefined) return undefined;
    return findingOf("ConditionUnknownReason", { object, message, evidence, values });
  }
  const sinceMs = timeMs(main.since);
  const isLate = snapshot.takenAtMs - (sinceMs ?? snapshot.takenAtMs) > progressLimitMs;
  return {
    code: main.reason,
    severity: known.severity === "info" && isLate ? "warning" : known.severity,
    object,
    field: "status.conditions",
    message,
    evidence: [
      ...evidence,
      ...(isPastDrain(main, manifest, snapshot) ? [noPodLeft] : []),
      ...requestsBehind(main, manifest, snapshot),
    ],
    cause: meaningOfReason(table, main.reason) ?? "",
    next: commandFor(known.next, object, values),
    // The condition is written after the event, with whole seconds.
    ...(sinceMs !== undefined && { sinceMs: sinceMs - eventLeadMs }),
  };
}

/**
 * What each policy requests for a field of a node state's spec: "policy many: numVfs 200". The operator merges the spec from the
 * policies that select the PF, so its message alone does not say which of them to correct.
 */
function requestsBehind(
  { message }: Reported,
  { kind, name, object }: Manifest,
  { cluster, nodes }: Snapshot,
): readonly string[] {
  const [, index, field = ""] = /^spec\.interfaces\[(\d+)\]\.(\w+)/.exec(message) ?? [];
  if (kind !== "SriovNetworkNodeState" || index === undefined) return [];
  const pciAddress = textAt(listAt(object, "spec", "interfaces")[Number(index)], "pciAddress");
  const pf = cluster.states.get(name)?.status?.interfaces?.find((each) => each.pciAddress === pciAddress);
  const labels = nodes.get(name)?.labels;
  if (pf === undefined || labels === undefined) return [];
  return cluster.policies.flatMap(({ metadata, spec }) => {
    const requested: unknown = Reflect.get(spec, field);
    if (!hasLabels(labels, spec.nodeSelector) || !matchesNic(spec.nicSelector, pf)) return [];
    if (!["string", "number", "boolean"].includes(typeof requested)) return [];
    return [`policy ${metadata.name}: ${field} ${String(requested)}`];
  });
}

/** How long before its condition an event can be recorded. */
const eventLeadMs = 10_000;

const noPodLeft = "no pod on the node requests devices any more: the condition has not been written since";

/** Whether the condition waits for pods that are not in the list of all pods. */
function isPastDrain({ reason }: Reported, { kind, name }: Manifest, snapshot: Snapshot): boolean {
  if (!kind.endsWith("NodeState") || !["EvictingPods", "PodsStay"].includes(reason)) return false;
  return snapshot.wasListed("Pod") && !snapshot.pods.some((pod) => pod.node === name && usesDevices(pod, snapshot));
}

function rank({ type }: Reported): number {
  return bad.includes(type) ? 0 : progress.includes(type) ? 1 : 2;
}

/** The table of libs/api that has the reasons of this condition. */
function tableOf(kind: string, type: string): ReasonTableName {
  const own = ofType.get(type);
  if (own !== undefined) return own;
  if (kind.endsWith("NodeState")) return "nodeStateReasons";
  if (kind.endsWith("OperatorConfig")) return "operatorConfigReasons";
  return kind.endsWith("Network") ? "networkReasons" : "policyReasons";
}

const ofType: ReadonlyMap<string, ReasonTableName> = new Map([
  [conditionTypes.rolledBack, "rolledBackReasons"],
  [conditionTypes.vfsUnhealthy, "vfsUnhealthyReasons"],
  [conditionTypes.waitingForLock, "waitingForLockReasons"],
  [conditionTypes.reconcileFailed, "reconcileFailedReasons"],
  [conditionTypes.drainProgressing, "drainReasons"],
  [conditionTypes.drainDegraded, "drainReasons"],
  [conditionTypes.drainComplete, "drainReasons"],
  [conditionTypes.devicePluginConfigured, "devicePluginReasons"],
  [conditionTypes.devicePluginConfigMap, "devicePluginConfigMapReasons"],
  [conditionTypes.injectorCertificate, "certificateReasons"],
  [conditionTypes.webhookCertificate, "certificateReasons"],
  [conditionTypes.resetHeld, "resetHeldReasons"],
  [conditionTypes.hardwareOffload, "hardwareOffloadReasons"],
  [conditionTypes.podsWaiting, "podsWaitingReasons"],
]);

/**
 * meaningOfReason returns what the reason of a condition means, from the generated reference.
 * Undefined if the table has no such reason.
 */
export function meaningOfReason(table: ReasonTableName, reason: string): string | undefined {
  return reference.reasons.find((entry) => entry.table === table && entry.name === reason)?.meaning;
}
