// SPDX-License-Identifier: Apache-2.0
/**
 * linkAbort makes an abort signal that follows several others and a deadline. Unlike AbortSignal.any, it removes its
 * listeners when it is disposed: the sources live as long as the process, which makes thousands of requests.
 */
import type { Clock } from "./clock.ts";

export interface LinkedAbort extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Aborts with `reason()` after `delayMs`. A second call replaces the first. */
  in(clock: Clock, delayMs: number, reason: () => Error): void;
  /** Cancels the call of `in`. */
  clear(): void;
}

export function linkAbort(...sources: readonly (AbortSignal | undefined)[]): LinkedAbort {
  const controller = new AbortController();
  let clear = () => {};
  const letGo = sources.map((source) => {
    const follow = () => {
      controller.abort(source?.reason);
    };
    if (source?.aborted) follow();
    source?.addEventListener("abort", follow, { once: true });
    return () => source?.removeEventListener("abort", follow);
  });

  return {
    signal: controller.signal,
    abort: (reason) => {
      controller.abort(reason);
    },
    in(clock, delayMs, reason) {
      clear();
      clear = clock.after(delayMs, () => {
        controller.abort(reason());
      });
    },
    clear: () => {
      clear();
    },
    [Symbol.dispose]() {
      clear();
      for (const end of letGo) end();
    },
  };
}
