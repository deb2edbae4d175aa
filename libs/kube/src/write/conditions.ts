// SPDX-License-Identifier: Apache-2.0
/**
 * setCondition and setConditions update status.conditions by the rules of metav1.Condition: one condition per type, and a
 * lastTransitionTime that changes only when the status changes. Both are pure and the only place that sets this time.
 * Usage: `setCondition(status.conditions, { type: "Ready", status: "True", reason, message, observedGeneration }, new Date())`.
 */
import { cutText } from "../json/texts.ts";

/**
 * Longest message of a condition, in bytes of UTF-8. A message can quote a node or the API server and have any length; an
 * object has several conditions, and a cluster has many objects. metav1.Condition allows 32 KiB.
 */
export const maxMessageBytes = 4096;

/** metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly observedGeneration?: number;
  /** RFC 3339, in whole seconds. */
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** A condition before setCondition adds lastTransitionTime. */
export type NewCondition = Omit<Condition, "lastTransitionTime">;

export interface SetConditionsOptions {
  /** Becomes lastTransitionTime of each condition that is added or whose status changes. */
  readonly now: Date;
  /** metadata.generation that the conditions were computed from. Replaces the one in each new condition. */
  readonly observedGeneration?: number | undefined;
  /**
   * Types that the caller writes; existing conditions of other types are left out of the result. An apply must send only
   * the caller's own conditions: it would become the owner of the others and later remove them. Without it, all are kept.
   */
  readonly types?: readonly string[] | undefined;
}

/**
 * Returns `existing` with `condition` in place of the one of its type, or at the end. The time is kept when only the
 * reason, the message or the generation changes, unless a clock that was not set has written it. A message longer than
 * maxMessageBytes is cut. Returns `existing` itself when nothing changes, so that callers can skip the write.
 */
export function setCondition(
  existing: readonly Condition[] | undefined,
  condition: NewCondition,
  now: Date,
): readonly Condition[] {
  const conditions = existing ?? [];
  const next = { ...condition, message: cutText(condition.message, maxMessageBytes) };
  const before = conditions.find(({ type }) => type === next.type);
  if (before === undefined) return [...conditions, { ...next, lastTransitionTime: rfc3339(now) }];
  const keepsTime = before.status === next.status && !hasWrongTime(before, now);
  if (keepsTime && isSame(before, next)) return conditions;
  const lastTransitionTime = keepsTime ? before.lastTransitionTime : rfc3339(now);
  return conditions.map((other) => (other === before ? { ...next, lastTransitionTime } : other));
}

/** Calls setCondition for each of `next`, after it has removed the conditions that the caller does not write. */
export function setConditions(
  existing: readonly Condition[] | undefined,
  next: readonly NewCondition[],
  { now, observedGeneration, types }: SetConditionsOptions,
): readonly Condition[] {
  const own = types === undefined ? existing : existing?.filter(({ type }) => types.includes(type));
  const generation = observedGeneration === undefined ? undefined : { observedGeneration };
  return next.reduce<readonly Condition[]>(
    (conditions, condition) => setCondition(conditions, { ...condition, ...generation }, now),
    own ?? [],
  );
}

/** Kubernetes 1.30, the oldest version that Switchyard supports, is of April 2024. An earlier time is from a clock that was not set. */
const earliestMs = Date.UTC(2024, 0);

/** Clocks of machines differ by less. */
const clockErrorMs = 3_600_000;

/**
 * Returns a recorded time in milliseconds since 1970. Undefined if it cannot be read, and if the clock that has written it was not set: it
 * is before there could be records, or in the future. While `nowMs` itself is before that, all times count.
 */
export function recordedMs(time: string | undefined, nowMs: number): number | undefined {
  const timeMs = Date.parse(time ?? "");
  if (Number.isNaN(timeMs)) return undefined;
  return nowMs >= earliestMs && (timeMs < earliestMs || timeMs > nowMs + clockErrorMs) ? undefined : timeMs;
}

function isSame(before: Condition, next: NewCondition): boolean {
  return (
    before.status === next.status &&
    before.observedGeneration === next.observedGeneration &&
    before.reason === next.reason &&
    before.message === next.message
  );
}

/** Reports whether a clock that was not set has written the time. */
function hasWrongTime({ lastTransitionTime }: Condition, now: Date): boolean {
  return !Number.isNaN(Date.parse(lastTransitionTime)) && recordedMs(lastTransitionTime, now.getTime()) === undefined;
}

// metav1.Time has whole seconds.
function rfc3339(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
