// SPDX-License-Identifier: Apache-2.0
/**
 * paceRestarts decides when the device plugin is restarted because the kubelet does not have devices that the plugin should have
 * announced. The plugin announces its devices once: if it started before the kubelet, or the kubelet restarted later, or a device was
 * in a pod at that time, only a restart helps (eve-and-afxdp.md b1). A restart takes the sockets away from pods that have not
 * connected yet, so there are few. It is a pure function.
 */

/** What is remembered between two checks. */
export interface RestartPace {
  /** Identifies what may have changed the outcome: the configuration, the kubelet's start, the devices on the host. */
  readonly situation: string;
  /** Since when devices are missing in this situation, or the last restart for it. */
  readonly sinceMs: number;
  /** Number of restarts in this situation. */
  readonly restarts: number;
  /** Time of the last restart in any situation. */
  readonly lastMs?: number;
}

export interface RestartCheck {
  /** Whether devices are missing. */
  readonly isMissing: boolean;
  readonly situation: string;
  readonly nowMs: number;
}

/**
 * "none": nothing is missing. "wait": the plugin may still announce it. "restart": restart it now. "given-up": restarts did not help, so
 * there are no more until the situation changes.
 */
export type NextStep = "none" | "wait" | "restart" | "given-up";

/** The plugin needs some seconds to start, and the status of a device some to follow it. */
export const graceMs = 20_000;
export const maxRestarts = 3;
/** Least time between two restarts, whatever has changed in between. */
const leastPauseMs = 60_000;

export function paceRestarts(
  before: RestartPace | undefined,
  { isMissing, situation, nowMs }: RestartCheck,
): { readonly pace: RestartPace | undefined; readonly next: NextStep } {
  const last = before?.lastMs === undefined ? {} : { lastMs: before.lastMs };
  if (!isMissing) return { pace: { situation: "", sinceMs: nowMs, restarts: 0, ...last }, next: "none" };
  const isNew = before?.situation !== situation;
  const pace = isNew ? { situation, sinceMs: nowMs, restarts: 0, ...last } : before;
  if (pace.restarts >= maxRestarts && nowMs - pace.sinceMs >= graceMs) return { pace, next: "given-up" };
  const pauseMs = graceMs * 3 ** pace.restarts;
  const isPaced = pace.lastMs === undefined || nowMs - pace.lastMs >= leastPauseMs;
  if (pace.restarts >= maxRestarts || nowMs - pace.sinceMs < pauseMs || !isPaced) return { pace, next: "wait" };
  return { pace: { situation, sinceMs: nowMs, restarts: pace.restarts + 1, lastMs: nowMs }, next: "restart" };
}
