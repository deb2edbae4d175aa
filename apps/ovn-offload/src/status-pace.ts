// SPDX-License-Identifier: Apache-2.0
/**
 * StatusPace limits how often the status is written. The status of 1,000 hosts is 200 kB, and the API server needs up to a second
 * of CPU time to store it. While hosts progress, it would change with each of them, and other writes would wait for it.
 */
import type { OffloadStatuses } from "./decide/offload-statuses.ts";

export interface StatusPace {
  /** Calls `write`, unless it is too early; then returns the time after which it is not. Rejects as `write` does. */
  run(statuses: OffloadStatuses, write: () => Promise<void>): Promise<number | undefined>;
}

/** The time between two writes: 5 s for 1,000 hosts. */
const pauseMsPerHost = 5;

/** Number of writes at once after a quiet time, so that a step that is done in a moment is reported in a moment. */
const burst = 3;

export function createStatusPace(nowMs: () => number): StatusPace {
  /** The time to which the writes so far reach if each takes its pause. */
  let spentToMs = -Infinity;
  let before: string | undefined;

  return {
    async run(statuses, write) {
      const hosts = statuses.pools.reduce((sum, { nodeCount }) => sum + nodeCount, 0);
      const pauseMs = hosts * pauseMsPerHost;
      const states = statesOf(statuses);
      const now = nowMs();
      const limitMs = now + (burst - 1) * pauseMs;
      const spentMs = Math.min(Math.max(spentToMs, now), limitMs + pauseMs);
      const earlyMs = spentMs - limitMs;
      // What users wait for is the state of a pool. It changes a few times for each pool.
      if (earlyMs > 0 && states === before) return earlyMs;
      before = states;
      try {
        await write();
      } finally {
        spentToMs = Math.min(spentMs, limitMs) + pauseMs;
      }
      return undefined;
    },
  };
}

function statesOf({ pools, overall }: OffloadStatuses): string {
  return JSON.stringify([overall?.state, pools.map(({ pool, state }) => [pool, state])]);
}
