// SPDX-License-Identifier: Apache-2.0
/**
 * whenAborted turns an abort signal into a promise, for a main function that only has to wait for the end.
 * Usage: `await whenAborted(signal)`.
 */

/** Resolves when `signal` aborts, or at once if it has aborted before. Never rejects. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
