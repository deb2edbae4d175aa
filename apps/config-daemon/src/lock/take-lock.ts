// SPDX-License-Identifier: Apache-2.0
/**
 * Takes the node's lock. While another process has it, the log, /readyz and the node's state say which one and since when.
 * Usage: `await using lock = await takeLock({ hostRoot, podName, condition, log, setNotReady, signal });`
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

/** Between two tries to write the condition; the API server may be away, and the node may have no state yet. */
const retryMs = 2_000;

/** For taking the condition back when told to end; a daemon that begins does it otherwise. */
const clearWithinMs = 3_000;

/** Rejects with the signal's reason when it aborts. */
export async function takeLock(options: TakeLockOptions): Promise<AsyncDisposable> {
  const { hostRoot, podName, condition, log, setNotReady, signal } = options;
  const taken = new AbortController();
  const until = AbortSignal.any([signal, taken.signal]);
  let why = "";
  let told: Promise<void> | undefined;

  async function tell(): Promise<void> {
    for (let written = ""; !until.aborted;) {
      const current = why;
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

  setNotReady(() => [why === "" ? "waiting for the lock of this node" : why]);
  try {
    return await acquireNodeLock(hostRoot, {
      holder: { pod: podName },
      now: () => new Date(),
      signal,
      onWaiting(text) {
        log.warn({ why: text }, "another process has the lock of this node; waiting for it to end");
        why = text;
        told ??= tell();
      },
    });
  } finally {
    taken.abort();
    await told;
    if (told !== undefined) await condition.clear(AbortSignal.timeout(clearWithinMs)).catch(() => undefined);
  }
}
