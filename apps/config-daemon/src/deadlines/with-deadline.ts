// SPDX-License-Identifier: Apache-2.0
/**
 * Asks the host for something, but waits only so long: where the kernel does not answer, it says which question hangs.
 * What hangs is waited for again rather than asked a second time, since each question takes threads that never come back.
 * Usage: `const within = createPatience(host, { timing, now }); const asked = await within((watched) => observe(watched));`
 */
import { err, ok, type Result } from "@switchyard/api";
import { watchCalls, type Host, type WatchedCalls } from "@switchyard/host";
import { describeWait } from "./describe-wait.ts";
import { endsWithin } from "./ends-within.ts";
import type { StepTiming } from "../steps/step-context.ts";

export interface PatienceDeps {
  readonly timing: StepTiming;
  readonly now: () => Date;
}

/** The answer, or in words what hangs: "list on PCI functions: no answer from the kernel for 2 min, since …". */
export type Within = <Answer>(ask: (watched: Host) => Promise<Answer>) => Promise<Result<Answer, string>>;

/** How long the next one waits for a question that hangs. */
const againMs = 1_000;

/** One question at a time. Rejects with what the question rejects with. */
export function createPatience(host: Host, { timing, now }: PatienceDeps): Within {
  let hanging: Running | undefined;

  return async function within(ask) {
    // What an earlier question brings is of long ago: once it has ended, this one is asked.
    if (hanging !== undefined && !(await endsWithin(hanging.ended, againMs, timing))) return err(words(hanging));
    const watched = watchCalls(host);
    const asked = ask(watched.host);
    const running = { ended: asked.catch(() => undefined), watched, sinceMs: timing.nowMs(), since: now() };
    hanging = running;
    if (!(await endsWithin(running.ended, timing.stepDeadlineMs, timing))) return err(words(running));
    hanging = undefined;
    return ok(await asked);
  };

  function words({ watched, sinceMs, since }: Running): string {
    const { text } = describeWait(timing.nowMs() - sinceMs, since);
    return `${watched.oldest() ?? "an answer of the host"}: ${text}`;
  }
}

interface Running {
  /** Never rejects. */
  readonly ended: Promise<unknown>;
  readonly watched: WatchedCalls;
  readonly sinceMs: number;
  readonly since: Date;
}
