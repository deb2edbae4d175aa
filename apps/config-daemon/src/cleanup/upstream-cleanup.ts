// SPDX-License-Identifier: Apache-2.0
/**
 * startUpstreamCleanup removes the files of the systemd mode, those of Switchyard and those of the Go operator, when the
 * daemon starts in daemon mode. It retries with back-off until it succeeds. A call that hangs in the kernel is reported like a
 * hanging step.
 */
import { HostError, watchCalls, type Host } from "@switchyard/host";
import type { Logger } from "@switchyard/service";
import { endsWithin, type StepTiming } from "../deadlines/with-deadline.ts";
import type { RunningSteps } from "../pass/running-steps.ts";
import { removeBoot } from "../systemd/remove-boot.ts";
import { removeUpstreamLeftovers } from "../upstream/upstream-leftovers.ts";

export interface UpstreamCleanupOptions {
  readonly host: Host;
  readonly timing: StepTiming;
  readonly runningSteps: RunningSteps;
  readonly log: Logger;
  /** Ends the retries. */
  readonly signal: AbortSignal;
  /** Called after each failed attempt with a sentence for the administrator. */
  readonly onFailure: (message: string) => void;
  /** Starts a pass, which reports that an attempt hangs, or hangs no longer. */
  readonly wake: () => void;
}

export interface UpstreamCleanup {
  /** Resolves when the first attempt has ended or missed its deadline. Rejects only because of a bug. */
  readonly firstAttempt: Promise<void>;
}

/** First and longest wait before the next operation. */
const retry = { firstMs: 60_000, longestMs: 60 * 60_000 };

export function startUpstreamCleanup(options: UpstreamCleanupOptions): UpstreamCleanup {
  const { timing, signal, log } = options;
  const first = beginAttempt(options);
  const rest = async (): Promise<void> => {
    for (let { ended } = first, failures = 1; !(await ended); ended = beginAttempt(options).ended, failures++) {
      await timing.sleep(Math.min(retry.firstMs * 2 ** (failures - 1), retry.longestMs), signal);
      if (signal.aborted) return;
    }
  };
  rest().catch((error: unknown) => {
    log.error({ error }, "removal of the systemd mode's files stopped by an unexpected error");
  });
  return { firstAttempt: first.inTime };
}

interface Attempt {
  /** Whether the attempt succeeded. */
  readonly ended: Promise<boolean>;
  /** Resolves when the attempt has ended or missed its deadline. */
  readonly inTime: Promise<void>;
}

function beginAttempt({ host, timing, runningSteps, log, onFailure, wake }: UpstreamCleanupOptions): Attempt {
  const watched = watchCalls(host);
  const entry = runningSteps.add(undefined, {
    describe: () => watched.oldest() ?? "remove files of the systemd mode",
  });

  async function remove(): Promise<boolean> {
    try {
      await removeBoot(watched.host, log);
      await removeUpstreamLeftovers(watched.host.files, log);
      return true;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      log.error({ error }, "removal of the systemd mode's files failed; retrying");
      onFailure(`Files of the systemd mode were not removed and can configure NICs at the next boot: ${error.message}`);
      return false;
    } finally {
      entry.end();
    }
  }

  async function limit(): Promise<void> {
    if (await endsWithin(ended, timing.stepDeadlineMs, timing)) return;
    entry.markHanging();
    wake();
    ended.finally(wake).catch(() => undefined);
  }

  const ended = remove();
  return { ended, inTime: limit() };
}
