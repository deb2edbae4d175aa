// SPDX-License-Identifier: Apache-2.0
/**
 * status.conditions, as metav1 has them: one per type, whose lastTransitionTime moves with the status alone.
 * Usage: `const conditions = setCondition(status.conditions, { type: "Ready", status: "True", reason, message }, new Date())`.
 */
import { cutText } from "../json/cut-text.ts";

/**
 * Bytes of a condition's message. It can contain text of a node or of the API server, of any length; an
 * object has several conditions, and a cluster many objects. metav1.Condition allows 32 KiB.
 */
export const maxMessageBytes = 4096;

/** metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly observedGeneration?: number;
  /** RFC 3339. */
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * `existing` with `verdict` in the place of the condition of its type, or at the end. The same array if nothing changes, so
 * that nothing needs to be written.
 */
export function setCondition(
  existing: readonly Condition[] | undefined,
  verdict: Omit<Condition, "lastTransitionTime">,
  now: Date,
): readonly Condition[] {
  const conditions = existing ?? [];
  const next = { ...verdict, message: cutText(verdict.message, maxMessageBytes) };
  const before = conditions.find(({ type }) => type === next.type);
  if (before === undefined) return [...conditions, { ...next, lastTransitionTime: rfc3339(now) }];
  if (isSame(before, next)) return conditions;
  const lastTransitionTime = before.status === next.status ? before.lastTransitionTime : rfc3339(now);
  return conditions.map((condition) => (condition === before ? { ...next, lastTransitionTime } : condition));
}

function isSame(before: Condition, next: Omit<Condition, "lastTransitionTime">): boolean {
  return (
    before.status === next.status &&
    before.observedGeneration === next.observedGeneration &&
    before.reason === next.reason &&
    before.message === next.message
  );
}

// metav1.Time has whole seconds.
function rfc3339(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
