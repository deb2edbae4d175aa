// SPDX-License-Identifier: Apache-2.0
/**
 * StatusPace limits how often the status is written. The status of 1,000 hosts is 200 kB, and the API server needs up to a second
 * of CPU time to store it. While hosts progress, it would change with each of them, and other writes would wait for it.
 * Usage: `const waitMs = await pace.run(hosts, () => writeStatus(decision, signal));`
 */

export interface StatusPace {
  /**
   * Calls `write`, unless it is too early; then returns the time after which it is not. `hosts` is the number of hosts in the
   * status. Rejects as `write` does.
   */
  run(hosts: number, write: () => Promise<void>): Promise<number | undefined>;
}

/** The pause after a write: 5 s for 1,000 hosts. */
const pauseMsPerHost = 5;

export function createStatusPace(nowMs: () => number): StatusPace {
  let nextMs = -Infinity;

  return {
    async run(hosts, write) {
      const earlyMs = nextMs - nowMs();
      if (earlyMs > 0) return earlyMs;
      try {
        await write();
      } finally {
        nextMs = nowMs() + hosts * pauseMsPerHost;
      }
      return undefined;
    },
  };
}
