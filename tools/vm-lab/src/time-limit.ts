// SPDX-License-Identifier: Apache-2.0
/**
 * Waiting with an end: for a promise, or for a process that is killed when its time is up.
 * Usage: `await settledBefore(agent.nextBoot(), AbortSignal.timeout(60_000), () => new VmLabError("boot-timed-out", ...))`
 */

/** What `promise` settles to, or the error of `failure` once `limit` is aborted. */
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
