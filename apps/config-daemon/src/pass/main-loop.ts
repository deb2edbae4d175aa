// SPDX-License-Identifier: Apache-2.0
/**
 * createMainLoop tells /healthz whether the main loop of the daemon works: passes start when they are due, and running passes
 * make progress. Each wait of a pass has a limit (steps, observations, requests), so a loop without progress is a bug, and a
 * restart helps. A step that hangs in the kernel does not stop the loop, and a restart would not end the step.
 */

export interface MainLoop {
  /** A pass starts or makes progress. */
  progress(): void;
  /** A pass has ended. The next one is due after `afterMs` at the latest; undefined: only when something changes. */
  idle(afterMs: number | undefined): void;
  /** Returns the reasons to restart the process, one sentence each. */
  problems(): readonly string[];
}

/** Several times the longest wait of a pass. */
const graceMs = 15 * 60_000;

export function createMainLoop({ nowMs }: { readonly nowMs: () => number }): MainLoop {
  // Before the first pass, the daemon waits for the API server without a limit.
  let dueMs = Infinity;
  return {
    progress() {
      dueMs = nowMs();
    },
    idle(afterMs) {
      dueMs = afterMs === undefined ? Infinity : nowMs() + afterMs;
    },
    problems() {
      const lateMs = nowMs() - dueMs;
      return lateMs > graceMs ? [`the main loop has made no progress for ${Math.floor(lateMs / 60_000)} min`] : [];
    },
  };
}
