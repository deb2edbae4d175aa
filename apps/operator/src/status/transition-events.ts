// SPDX-License-Identifier: Apache-2.0
/**
 * Tells people when a policy or a pool becomes ready, falls back, or fails: once for each transition. What it was before
 * is read from its stored conditions, so a restarted operator tells nothing twice; and one event per object, whatever the
 * number of its nodes.
 * Usage: `const tell = createTransitionEvents(events); if (result === "written") recordTransition(policy, summary);`
 */
import { conditionTypes, type Condition } from "@switchyard/api";
import type { EventRecorder, KubeObject } from "@switchyard/kube";
import type { ConditionSummary } from "./condition-summary.ts";

/** To be called when a status was written. `object` is as it was before that. */
export type RecordTransition = (object: Judged, summary: ConditionSummary) => void;

/** An object with our three conditions. */
export interface Judged extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Objects; of older ones the caches have heard long ago. */
const remembered = 1_000;

export function createTransitionEvents(events: EventRecorder): RecordTransition {
  /** What was told last, by uid; the caches learn of what was written later. */
  const told = new Map<string, string>();

  return function recordTransition(object, { state, reason, message }) {
    const { uid = "" } = object.metadata;
    const before = told.get(uid) ?? markOf(object.status?.conditions ?? []);
    const mark = `${state} ${reason}`;
    told.delete(uid);
    told.set(uid, mark);
    for (const oldest of told.keys()) {
      if (told.size <= remembered) break;
      told.delete(oldest);
    }
    if (before === mark) return;
    events.record({ regarding: object, type: state === "degraded" ? "Warning" : "Normal", reason, note: message });
  };
}

function markOf(conditions: readonly Condition[]): string | undefined {
  const { ready, progressing, degraded } = conditionTypes;
  const find = (type: string) => conditions.find((condition) => condition.type === type);
  const states = { ready, degraded, progressing }; // the last beside another one, too
  const holding = Object.entries(states).find(([, type]) => find(type)?.status === "True");
  const reason = find(ready)?.reason;
  return reason === undefined ? undefined : `${holding?.[0] ?? "idle"} ${reason}`;
}
