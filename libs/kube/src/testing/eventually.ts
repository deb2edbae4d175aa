// SPDX-License-Identifier: Apache-2.0
/**
 * eventually waits until a condition is true.
 * Usage: `await eventually(() => cache.size === 3)`.
 */
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

/** Resolves when `holds` returns true; rejects after 20 s. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not true within 20 s: ${holds.toString()}`);
    await delay(2);
  }
}

/** Waits until callbacks of settled promises and of the current event loop turn have run. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}
