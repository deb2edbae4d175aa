// SPDX-License-Identifier: Apache-2.0
/**
 * Whether the daemon's main loop still turns, for /healthz: passes begin when they are due, and get on while they run. Each
 * wait of a pass is limited (steps, looks at the host, requests), so a loop that does not turn for long is a bug, which a
 * restart helps against. A step that hangs in the kernel does not stop the loop, and a restart would not end it.
 * Usage: `const loop = createMainLoop({ nowMs }); loop.turns(); loop.rests(afterMs); loop.problems()`.
 */

export interface MainLoop {
  /** A pass begins or gets on. */
  turns(): void;
  /** A pass has ended, and the next one is due in so many ms at the latest; undefined: when something changes. */
  rests(afterMs: number | undefined): void;
  /** Why the process should be started again, a sentence each. */
  problems(): readonly string[];
}

/** Several times what any single wait of a pass may take. */
const graceMs = 15 * 60_000;

export function createMainLoop({ nowMs }: { readonly nowMs: () => number }): MainLoop {
  // Before the first pass it waits for the API server, for as long as that takes.
  let dueMs = Infinity;
  return {
    turns() {
      dueMs = nowMs();
    },
    rests(afterMs) {
      dueMs = afterMs === undefined ? Infinity : nowMs() + afterMs;
    },
    problems() {
      const lateMs = nowMs() - dueMs;
      return lateMs > graceMs ? [`the main loop has not turned for ${Math.floor(lateMs / 60_000)} min`] : [];
    },
  };
}
