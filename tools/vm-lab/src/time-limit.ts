// SPDX-License-Identifier: Apache-2.0
/**
 * settledBefore waits for a promise until a signal aborts.
 * Usage: `await settledBefore(agent.nextBoot(), AbortSignal.timeout(60_000), () => new VmLabError("boot-timed-out", "no answer"))`
 */

/** Settles as `promise` does, or rejects with the error of `failure` when `limit` aborts. */
export async function settledBefore<T>(promise: Promise<T>, limit: AbortSignal, failure: () => Error): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const onAbort = () => {
    reject(failure());
  };
  limit.addEventListener("abort", onAbort, { once: true });
  if (limit.aborted) onAbort();
  try {
    return await Promise.race([promise, late]);
  } finally {
    limit.removeEventListener("abort", onAbort);
  }
}
