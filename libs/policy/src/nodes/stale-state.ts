// SPDX-License-Identifier: Apache-2.0
/**
 * Retention of a node state, of either kind, whose node has left the node set. The state is kept for some time, because the
 * node may come back (sriov-operator.md B.9).
 * Usage: `staleStateAction(state, { nowMs: Date.now(), delayMs: rules.staleDelayMs })`.
 */
import { annotations, type ObjectMeta } from "@switchyard/api";

/**
 * How long a state is kept after its node has left, unless STALE_NODE_STATE_CLEANUP_DELAY_MINUTES sets another time.
 */
export const defaultStaleDelayMs = 30 * 60_000;

/** Latest time that RFC 3339 can represent, because years have four digits. */
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59);

/** No operator that writes deadlines is older. */
const earliestMs = Date.UTC(2020, 0);

/** A deadline this long after the end of the delay is from a clock that was years ahead, not from a longer delay. */
const yearMs = 366 * 24 * 3_600_000;

// Date.parse alone accepts "12" as December 2001.
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

interface Annotated {
  readonly metadata: Pick<ObjectMeta, "annotations">;
}

/** What to do with the state of a node that is not in the node set. */
export type StaleStateAction =
  | { readonly kind: "delete" }
  /** Write `keepUntil` to the annotation annotations.keepStateUntil, and check again after `afterMs`. */
  | { readonly kind: "mark"; readonly keepUntil: string; readonly afterMs: number }
  /** The state has the annotation already: check again after `afterMs`. */
  | { readonly kind: "keep"; readonly afterMs: number };

/**
 * Parses the value of STALE_NODE_STATE_CLEANUP_DELAY_MINUTES, a whole number of minutes, into milliseconds. 0 means
 * that states are deleted immediately. An absent, malformed or negative value means the default, as in upstream.
 */
export function parseStaleDelayMs(text: string | undefined): number {
  return text !== undefined && /^\d+$/.test(text) ? Math.min(Number(text) * 60_000, latestMs) : defaultStaleDelayMs;
}

/**
 * Returns what to do with the state of a node that is not in the node set. The deadline is written when the state is
 * first found stale and does not change afterwards; a delay of 0 deletes the state in any case. A deadline that cannot
 * be parsed, or that a clock that was not set has written, is replaced. When the node comes back, the caller must apply
 * the state without the annotation.
 */
export function staleStateAction(
  state: Annotated,
  { nowMs, delayMs }: { readonly nowMs: number; readonly delayMs: number },
): StaleStateAction {
  if (delayMs <= 0) return { kind: "delete" };
  const deadlineMs = keepUntilMs(state);
  if (deadlineMs === undefined || deadlineMs < earliestMs || deadlineMs > nowMs + delayMs + yearMs) {
    // Round up to whole seconds, so that no state is deleted too early.
    const stampMs = Math.min(Math.ceil((nowMs + delayMs) / 1000) * 1000, latestMs);
    return { kind: "mark", keepUntil: formatTime(stampMs), afterMs: stampMs - nowMs };
  }
  return deadlineMs > nowMs ? { kind: "keep", afterMs: deadlineMs - nowMs } : { kind: "delete" };
}

/**
 * Returns the deadline in the state's annotation, in milliseconds since 1970; undefined if it is absent or malformed.
 */
export function keepUntilMs(state: Annotated): number | undefined {
  const text = state.metadata.annotations?.[annotations.keepStateUntil] ?? "";
  const ms = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

// RFC 3339 as Go formats it: "2026-11-20T21:15:40Z".
function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}
