// SPDX-License-Identifier: Apache-2.0
/**
 * takeLock takes the lock of the node. While another process holds it, the log, /readyz and the NodeState show which process
 * that is and since when.
 */
import { acquireNodeLock } from "@switchyard/host";
import type { Logger } from "@switchyard/service";
import { setTimeout as delay } from "node:timers/promises";
import type { LockCondition } from "./lock-condition.ts";

export interface TakeLockOptions {
  readonly hostRoot: string;
  readonly podName: string | undefined;
  readonly condition: LockCondition;
  readonly log: Logger;
  readonly setNotReady: (check: () => readonly string[]) => void;
  readonly signal: AbortSignal;
}

/** Time between two operations to write the condition. The API server can be away, and the node can have no NodeState yet. */
const retryMs = 2_000;

/** Limit for removing the condition when the process stops. A daemon that takes the lock removes the condition again. */
const clearWithinMs = 3_000;

/** Rejects with the reason of the signal when it aborts. */
export async function takeLock(options: TakeLockOptions): Promise<AsyncDisposable> {
  const { hostRoot, podName, condition, log, setNotReady, signal } = options;
  const taken = new AbortController();
  const until = AbortSignal.any([signal, taken.signal]);
  let waitReason = "";
  let writing: Promise<void> | undefined;

  async function keepConditionWritten(): Promise<void> {
    for (let written = ""; !until.aborted;) {
      const current = waitReason;
      if (current !== written) {
        try {
          await condition.write(current, until);
          written = current;
        } catch (error) {
          log.debug({ error }, "condition WaitingForLock not written; retrying");
        }
      }
      await delay(retryMs, undefined, { signal: until }).catch(() => undefined);
    }
  }

  setNotReady(() => [waitReason === "" ? "waiting for the lock of this node" : waitReason]);
  try {
    return await acquireNodeLock(hostRoot, {
      holder: { pod: podName },
      now: () => new Date(),
      signal,
      onWaiting(reason) {
        log.warn({ reason }, "another process has the lock of this node; waiting");
        waitReason = reason;
        writing ??= keepConditionWritten();
      },
    });
  } finally {
    taken.abort();
    await writing;
    if (writing !== undefined) await condition.clear(AbortSignal.timeout(clearWithinMs)).catch(() => undefined);
  }
}
