// SPDX-License-Identifier: Apache-2.0
/**
 * watchDurations measures how long changes take: a drain, a change of a node's spec until the node is configured, and a change of
 * a policy until all its nodes are. The begin is a time in the objects, so a restart of the operator does not change the
 * result. Only the leader measures: the sums of all replicas would count each change several times.
 */
import { conditionTypes, drainAnswers, type Condition, type SriovNetworkNodePolicy } from "@switchyard/api";
import { recordedMs, type Cache } from "@switchyard/kube";
import { Histogram, type Registry } from "@switchyard/service";
import { answerOf, type CachedDrain } from "../facts/cached-drain.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";

export interface DurationCaches {
  readonly states: Pick<Cache<CachedNodeState>, "subscribe">;
  readonly policies: Pick<Cache<SriovNetworkNodePolicy>, "subscribe">;
}

/** Firmware, reboots and evictions take minutes. */
const buckets = [1, 5, 15, 60, 180, 600, 1_800];

/** `isLeading` is asked at each change. */
export function watchDurations(
  registry: Registry,
  { states, policies }: DurationCaches,
  { isLeading, nowMs = Date.now }: { readonly isLeading: () => boolean; readonly nowMs?: () => number },
): void {
  const registers = [registry];
  const drains = new Histogram({
    name: "switchyard_drain_seconds",
    help: "Duration of drains of nodes, from the first eviction until no pod is left that has to go.",
    buckets,
    registers,
  });
  const nodes = new Histogram({
    name: "switchyard_node_configuration_seconds",
    help: "Time from a change of a node's spec until the node is configured, with its drain and reboot.",
    buckets,
    registers,
  });
  const wholePolicies = new Histogram({
    name: "switchyard_policy_configuration_seconds",
    help: "Time from the beginning of a change until all nodes of a policy are configured.",
    buckets,
    registers,
  });
  const observe = (histogram: Histogram, since: string | undefined): void => {
    const sinceMs = recordedMs(since, nowMs());
    if (!isLeading() || sinceMs === undefined) return;
    const seconds = (nowMs() - sinceMs) / 1_000;
    histogram.observe(Math.max(0, seconds));
  };

  states.subscribe(({ before, after }) => {
    if (before === undefined || after === undefined) return;
    const draining = drainingSince(before.drain);
    if (draining !== undefined && answerOf(after.drain) === drainAnswers.complete) observe(drains, draining);
    if (!isConfigured(before) && isConfigured(after)) observe(nodes, after.specWrittenAt);
  });
  policies.subscribe(({ before, after }) => {
    const since = trueSince(before?.status?.conditions, conditionTypes.progressing);
    const isReady = trueSince(after?.status?.conditions, conditionTypes.ready) !== undefined;
    if (since !== undefined && isReady) observe(wholePolicies, since);
  });
}

/** Since when pods are evicted (RFC 3339); undefined if none are. */
function drainingSince(drain: CachedDrain): string | undefined {
  if (answerOf(drain) !== drainAnswers.draining) return undefined;
  return trueSince(drain.conditions, conditionTypes.drainProgressing);
}

function isConfigured({ hasSeenSpec, syncStatus, unfinished, interfaces }: CachedNodeState): boolean {
  return hasSeenSpec && syncStatus === "Succeeded" && unfinished.length === 0 && interfaces.length > 0;
}

function trueSince(conditions: readonly Condition[] | undefined, type: string): string | undefined {
  const condition = conditions?.find((one) => one.type === type);
  return condition?.status === "True" ? condition.lastTransitionTime : undefined;
}
