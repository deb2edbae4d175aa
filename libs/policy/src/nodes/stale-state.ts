// SPDX-License-Identifier: Apache-2.0
/**
 * What becomes of a SriovNetworkNodeState whose node left the node set: it stays for a while, since nodes come back
 * (sriov-operator.md B.9).
 * Usage: `judgeStaleState(state, { nowMs: Date.now(), delayMs: rules.staleDelayMs })`.
 */
import { annotations, type SriovNetworkNodeState } from "@switchyard/api";

/** How long a state outlives its node unless the environment says otherwise. */
export const defaultStaleDelayMs = 30 * 60_000;

/** RFC 3339 has four digits for the year. */
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59);

// Date.parse alone takes "12" for December 2001.
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** What to do now with the state of a node that left. */
export type StaleVerdict =
  | { readonly kind: "delete" }
  /** Write `keepUntil` into annotations.keepStateUntil, and look again after `afterMs`. */
  | { readonly kind: "mark"; readonly keepUntil: string; readonly afterMs: number }
  /** It is marked: look again after `afterMs`. */
  | { readonly kind: "keep"; readonly afterMs: number };

/**
 * Milliseconds from the text of STALE_NODE_STATE_CLEANUP_DELAY_MINUTES, a whole number of minutes; 0 deletes at once.
 * What is absent, malformed or negative is the default, as upstream has it.
 */
export function parseStaleDelayMs(text: string | undefined): number {
  return text !== undefined && /^\d+$/.test(text) ? Math.min(Number(text) * 60_000, latestMs) : defaultStaleDelayMs;
}

/**
 * Judges the state of a node that is not in the node set. The deadline is stamped on the first sight and stands from
 * then on; a delay of 0 deletes whatever is stamped. A stamp that is no time is stamped anew. Once the node is back,
 * the stamp has to go: whoever applies the state then leaves it out.
 */
export function judgeStaleState(
  state: SriovNetworkNodeState,
  { nowMs, delayMs }: { readonly nowMs: number; readonly delayMs: number },
): StaleVerdict {
  if (delayMs <= 0) return { kind: "delete" };
  const deadlineMs = keepUntilMs(state);
  if (deadlineMs === undefined) {
    // Whole seconds, rounded up so that no state goes early.
    const stampMs = Math.min(Math.ceil((nowMs + delayMs) / 1000) * 1000, latestMs);
    return { kind: "mark", keepUntil: formatTime(stampMs), afterMs: stampMs - nowMs };
  }
  return deadlineMs > nowMs ? { kind: "keep", afterMs: deadlineMs - nowMs } : { kind: "delete" };
}

/** The time until which the state is kept, in ms since 1970; undefined where it carries none that can be read. */
export function keepUntilMs(state: SriovNetworkNodeState): number | undefined {
  const text = state.metadata.annotations?.[annotations.keepStateUntil] ?? "";
  const ms = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

// RFC 3339 as Go prints it: "2026-11-20T21:15:40Z".
function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}
