// SPDX-License-Identifier: Apache-2.0
/**
 * createWithDeadline limits how long the daemon waits for calls of the host, and names the call that hangs. While one
 * hangs, it waits for the same call again and starts no other, because each hanging call occupies threads for good.
 */
import { err, ok, type Result } from "@switchyard/api";
import { watchCalls, type Host, type WatchedCalls } from "@switchyard/host";
import { sleep, systemClock } from "@switchyard/kube";

/** The default reason is an exception with a stack, and each pass waits several times. */
const noReason = null;

/** The clock and the time limits of steps. Tests inject their own. */
export interface StepTiming {
  /** A step or an observation that takes longer is reported as hanging. It may still end. */
  readonly stepDeadlineMs: number;
  readonly linkTimeoutMs: number;
  readonly udevTimeoutMs: number;
  /** Resolves after `ms` milliseconds, or when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  nowMs(): number;
}

export interface DeadlineDeps {
  readonly timing: StepTiming;
  readonly now: () => Date;
}

/**
 * Runs `work` on the host for at most timing.stepDeadlineMs. The error names the call that hangs: "list on PCI functions:
 * no answer from the kernel for 2 min, since …". Rejects with the error of `work`.
 */
export type WithDeadline = <Answer>(work: (watched: Host) => Promise<Answer>) => Promise<Result<Answer, string>>;

const minuteMs = 60_000;

const hourMs = 60 * minuteMs;

/** Ages at which the text changes. After the first hour it changes every hour. */
const marksMs = [2, 5, 10, 30].map((minutes) => minutes * minuteMs);

interface Wait {
  readonly text: string;
  /** Milliseconds until the text changes. */
  readonly nextChangeMs: number;
}

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

/**
 * describeWait says for how long the kernel has not answered. The text changes rarely, because each change is a write of the
 * node's status. It is a pure function.
 */
export function describeWait(ageMs: number, since: Date): Wait {
  const hours = Math.floor(ageMs / hourMs);
  const mark = hours > 0 ? hours * hourMs : marksMs.findLast((each) => each <= ageMs);
  const next = hours > 0 ? (hours + 1) * hourMs : (marksMs.find((each) => each > ageMs) ?? hourMs);
  const from = `since ${since.toISOString().slice(0, 19)}Z`;
  return {
    text: `no answer from the kernel ${mark === undefined ? "" : `for ${durationOf(mark)}, `}${from}`,
    nextChangeMs: next - ageMs,
  };
}

function durationOf(ms: number): string {
  return ms >= hourMs ? `${ms / hourMs} h` : `${ms / minuteMs} min`;
}

/**
 * endsWithin waits for a promise for a limited time. The work behind the promise goes on after the deadline.
 * Reports whether `running` resolved before the deadline. Rejects if `running` rejects before the deadline.
 */
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

/** The clock of this process, and the time limits of steps in the daemon and in its commands. */
export const defaultTiming: StepTiming = {
  stepDeadlineMs: 2 * 60_000,
  linkTimeoutMs: 10_000,
  udevTimeoutMs: 60_000,
  nowMs: () => systemClock.nowMs(),
  sleep: (ms, signal) => sleep(systemClock, ms, signal).catch(() => undefined),
};
