// SPDX-License-Identifier: Apache-2.0
/**
 * Waits for something only so long. What it waited for goes on.
 * Usage: `if (await endsWithin(running, timing.stepDeadlineMs, timing)) …`.
 */
import type { StepTiming } from "../steps/step-context.ts";

/** Whether `running` resolved in time. Rejects with its reason where it rejects in time. */
export async function endsWithin(
  running: Promise<unknown>,
  deadlineMs: number,
  { sleep }: Pick<StepTiming, "sleep">,
): Promise<boolean> {
  const over = new AbortController();
  const late = sleep(deadlineMs, over.signal).then(() => false);
  try {
    return await Promise.race([running.then(() => true), late]);
  } finally {
    over.abort();
  }
}
