// SPDX-License-Identifier: Apache-2.0
/**
 * StatusPace limits how often the status is written. The status of 1,000 hosts is 200 kB, and the API server needs up to a second
 * of CPU time to store it. While hosts progress, it would change with each of them, and other writes would wait for it.
 * Usage: `const waitMs = await pace.run(() => writeStatus(decision, signal));`
 */

export interface StatusPace {
  /** Calls `write`, unless it is too early; then returns the time after which it is not. Rejects as `write` does. */
  run(write: () => Promise<void>): Promise<number | undefined>;
}

/** After each write, the pause is this many times as long as the write took. */
const pauseFactor = 10;

/** The longest pause, so that a slow API server does not hide the status for long. */
const maxPauseMs = 10_000;

export function createStatusPace(nowMs: () => number): StatusPace {
  let nextMs = -Infinity;

  return {
    async run(write) {
      const beginMs = nowMs();
      if (beginMs < nextMs) return nextMs - beginMs;
      try {
        await write();
      } finally {
        const endMs = nowMs();
        nextMs = endMs + Math.min(maxPauseMs, pauseFactor * (endMs - beginMs));
      }
      return undefined;
    },
  };
}
