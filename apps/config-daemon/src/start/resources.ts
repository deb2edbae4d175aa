// SPDX-License-Identifier: Apache-2.0
/**
 * sizeThreadPool sets the number of libuv's threads, which read and write files. A write to sriov_numvfs occupies a thread for
 * seconds, and a write that hangs occupies it for good. The pool is large enough for both.
 */
import { collectAtQuarterOfLimit, releaseMemoryAfter } from "@switchyard/service/memory";

/** Threads for everything except the steps of PFs, such as observations and credential files. */
const otherThreads = 4;

/** PFs that are configured in parallel unless MAX_PFS or a boot configuration says otherwise. */
export const defaultMaxPfs = 4;

/** Steps that can hang unless UV_THREADPOOL_SIZE is set. Each thread uses about 0.1 MB of resident memory. */
export const defaultMaxHanging = 8;

/**
 * Sets UV_THREADPOOL_SIZE unless it is set. libuv reads it at the first use of the pool. Returns how many steps can hang at
 * the same time without blocking the others.
 */
export function sizeThreadPool(maxPfs: number, env: NodeJS.ProcessEnv = process.env): { readonly maxHanging: number } {
  env["UV_THREADPOOL_SIZE"] ??= `${maxPfs + otherThreads + defaultMaxHanging}`;
  const size = Number.parseInt(env["UV_THREADPOOL_SIZE"], 10);
  return { maxHanging: Math.max(1, (Number.isNaN(size) ? 0 : size) - maxPfs - otherThreads) };
}

/** Time after the first success in which the daemon reports and becomes ready. */
const startEndMs = 1_000;

/**
 * createSaveMemory returns the function that the daemon calls after its first pass: from then on V8 collects early, and the
 * garbage of the start goes back to the kernel.
 */
export function createSaveMemory(): () => void {
  const releaseMemory = releaseMemoryAfter(startEndMs);
  return () => {
    collectAtQuarterOfLimit();
    releaseMemory();
  };
}
