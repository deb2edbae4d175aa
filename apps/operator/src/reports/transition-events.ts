// SPDX-License-Identifier: Apache-2.0
/**
 * createTransitionEvents records one event for each transition of an object between ready, progressing, degraded and
 * idle, whatever the number of its nodes. The previous state is read from the stored conditions, so a restarted
 * operator records nothing twice.
 */
import { conditionTypes, type Condition } from "@switchyard/api";
import type { EventRecorder, KubeObject } from "@switchyard/kube";
import type { ConditionSummary } from "./condition-summary.ts";

/** Call after a status was written, with the `object` as it was before. */
export type RecordTransition = (object: Conditioned, summary: ConditionSummary) => void;

/** An object with the conditions Ready, Progressing and Degraded. */
export interface Conditioned extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Most objects whose last event is remembered. The caches show the conditions of older ones by then. */
const maxRemembered = 1_000;

export function createTransitionEvents(events: EventRecorder): RecordTransition {
  /** State and reason of the last event by uid. The caches show the written conditions only later. */
  const recorded = new Map<string, string>();

  return function recordTransition(object, { state, reason, message, isWarning }) {
    const { uid = "" } = object.metadata;
    const before = recorded.get(uid) ?? markOf(object.status?.conditions ?? []);
    const mark = `${state} ${reason}`;
    recorded.delete(uid);
    recorded.set(uid, mark);
    for (const oldest of recorded.keys()) {
      if (recorded.size <= maxRemembered) break;
      recorded.delete(oldest);
    }
    if (before === mark) return;
    const type = state === "degraded" || isWarning === true ? "Warning" : "Normal";
    events.record({ regarding: object, type, reason, note: message });
  };
}

function markOf(conditions: readonly Condition[]): string | undefined {
  const { ready, progressing, degraded } = conditionTypes;
  const find = (type: string) => conditions.find((condition) => condition.type === type);
  const states = { ready, degraded, progressing }; // progressing last: it can be True beside another one
  const holding = Object.entries(states).find(([, type]) => find(type)?.status === "True");
  const reason = find(ready)?.reason;
  return reason === undefined ? undefined : `${holding?.[0] ?? "idle"} ${reason}`;
}
