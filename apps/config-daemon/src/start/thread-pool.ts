// SPDX-License-Identifier: Apache-2.0
/**
 * libuv's threads, on which files are read and written. A write to sriov_numvfs holds one for seconds, and one that hangs
 * holds it for good: there are enough of them that neither stops the rest.
 * Usage: `const { maxHanging } = sizeThreadPool(maxPfs);` before anything uses the pool.
 */

/** For all but the steps of PFs: looks at the host, files of the API server's credentials. */
const others = 4;

/** Steps that may hang, unless UV_THREADPOOL_SIZE says otherwise. Each thread costs about 0.1 MB of resident memory. */
export const defaultMaxHanging = 8;

/**
 * Sets UV_THREADPOOL_SIZE, which libuv reads when the pool is used first, unless it is set. Answers how many steps may
 * hang at once.
 */
export function sizeThreadPool(maxPfs: number, env: NodeJS.ProcessEnv = process.env): { readonly maxHanging: number } {
  env["UV_THREADPOOL_SIZE"] ??= `${maxPfs + others + defaultMaxHanging}`;
  const size = Number.parseInt(env["UV_THREADPOOL_SIZE"], 10);
  return { maxHanging: Math.max(1, (Number.isNaN(size) ? 0 : size) - maxPfs - others) };
}
