// SPDX-License-Identifier: Apache-2.0
/**
 * endsWithin waits for a promise for a limited time. The work behind the promise goes on after the deadline.
 * Usage: `if (await endsWithin(running, timing.stepDeadlineMs, timing)) …`.
 */
import type { StepTiming } from "../steps/step-context.ts";

/** Reports whether `running` resolved before the deadline. Rejects if `running` rejects before the deadline. */
export async function endsWithin(
  running: Promise<unknown>,
  deadlineMs: number,
  { sleep }: Pick<StepTiming, "sleep">,
): Promise<boolean> {
  const ended = new AbortController();
  const late = sleep(deadlineMs, ended.signal).then(() => false);
  try {
    return await Promise.race([running.then(() => true), late]);
  } finally {
    ended.abort(noReason);
  }
}

/** The default reason is an exception with a stack, and each pass waits several times. */
const noReason = null;
