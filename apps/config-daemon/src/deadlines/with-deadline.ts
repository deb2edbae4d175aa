// SPDX-License-Identifier: Apache-2.0
/**
 * createWithDeadline limits how long the daemon waits for calls of the host, and names the call that hangs. While one
 * hangs, it waits for the same call again and starts no other, because each hanging call occupies threads for good.
 * Usage: `const withDeadline = createWithDeadline(host, { timing, now }); const seen = await withDeadline((watched) => observe(watched));`
 */
import { err, ok, type Result } from "@switchyard/api";
import { watchCalls, type Host, type WatchedCalls } from "@switchyard/host";
import type { StepTiming } from "../steps/step-context.ts";
import { describeWait } from "./describe-wait.ts";
import { endsWithin } from "./ends-within.ts";

export interface DeadlineDeps {
  readonly timing: StepTiming;
  readonly now: () => Date;
}

/**
 * Runs `work` on the host for at most timing.stepDeadlineMs. The error names the call that hangs: "list on PCI functions:
 * no answer from the kernel for 2 min, since …". Rejects with the error of `work`.
 */
export type WithDeadline = <Answer>(work: (watched: Host) => Promise<Answer>) => Promise<Result<Answer, string>>;

/** How long a call waits for an earlier one that hangs. */
const hangingWaitMs = 1_000;

/** Returns a function that must not be called again before its promise has settled. */
export function createWithDeadline(host: Host, { timing, now }: DeadlineDeps): WithDeadline {
  let hanging: Running | undefined;

  return async function withDeadline(work) {
    // The result of the earlier call is outdated. It is dropped, and the work runs once the earlier call has ended.
    if (hanging !== undefined && !(await endsWithin(hanging.ended, hangingWaitMs, timing))) {
      return err(describe(hanging));
    }
    const watched = watchCalls(host);
    const answer = work(watched.host);
    const running = { ended: answer.catch(() => undefined), watched, sinceMs: timing.nowMs(), since: now() };
    hanging = running;
    if (!(await endsWithin(running.ended, timing.stepDeadlineMs, timing))) return err(describe(running));
    hanging = undefined;
    return ok(await answer);
  };

  function describe({ watched, sinceMs, since }: Running): string {
    const { text } = describeWait(timing.nowMs() - sinceMs, since);
    return `${watched.oldest() ?? "calls of the host"}: ${text}`;
  }
}

interface Running {
  /** Never rejects. */
  readonly ended: Promise<unknown>;
  readonly watched: WatchedCalls;
  readonly sinceMs: number;
  readonly since: Date;
}
