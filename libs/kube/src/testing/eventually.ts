// SPDX-License-Identifier: Apache-2.0
/**
 * Waits for what others bring about.
 * Usage: `await eventually(() => cache.size === 3)`.
 */
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

/** Resolves when `holds` is true; rejects after 20 s, which only a test that fails needs. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`did not come about: ${holds.toString()}`);
    await delay(2);
  }
}

/** Lets promises that are settled, and callbacks that are due, have their turn. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}
