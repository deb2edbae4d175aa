// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps the memory of a service small. V8 lets its heap grow to several times that before it collects, and
 * by default keeps 48 MB for what is young: an operator of 1,000 nodes came to 265 MB that way, and comes to 109 MB with
 * this, for a tenth more CPU (Node 24.21, `npm run bench -- fleet`).
 * Usage: `runFrugally();` or `useOneArena(roomForYoung);` first of all in a main.ts; runService() calls keepHeapSmall() itself.
 */
import { setFlagsFromString } from "node:v8";

/** The heap stays near what is live. V8 reads both flags at each collection, so a process that runs already may set them. */
export function keepHeapSmall(): void {
  setFlagsFromString("--heap-growing-percent=20");
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Keeps V8's optimizing compilers out of a process that is asked now and then: they take 10 to 40 MB while and after they
 * work, for code that is seldom run often enough to repay it. Baseline code stays. The webhook at 1,000 nodes comes to
 * 105 MB instead of 136 MB under load, for the same CPU time (Node 24.21, `npm run bench -- webhook`).
 */
export function compileLittle(): void {
  setFlagsFromString("--no-opt");
  setFlagsFromString("--no-maglev");
}

/**
 * For what is young in a process that hears of a thousand objects at once: V8's 1 MB is full of them after 2 ms, and they
 * are moved before they are garbage. Takes an eighth off the operator's CPU time, for 10 MB (Node 24.21, `npm run bench
 * -- fleet`).
 */
export const roomForYoung = "--min-semi-space-size=8";

/**
 * No compilers to machine code (--lite-mode would take WebAssembly along, which .ts files need), little room for what is
 * young, one thread that helps the collector.
 */
const frugal = ["--no-sparkplug", "--no-maglev", "--no-opt", "--max-semi-space-size=1", "--v8-pool-size=1"];

/**
 * Starts the program anew, in this very process, so that it needs as little memory as can be: for what does next to
 * nothing but is on every node. Saves 5 MB of the daemon's 68, most of it pages of V8's compilers, which are then never
 * touched; it costs 15 ms. Flags set later have no such effect (Node 24.21).
 */
export function runFrugally(): void {
  if (frugal.every((flag) => process.execArgv.includes(flag)) || process.execve === undefined) return;
  const args = [process.execPath, ...frugal, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, args, process.env);
}

/**
 * Starts the program anew, in this very process, with one arena of glibc's for all threads: V8's compilers leave theirs
 * grown for good. The operator at 1,000 nodes comes to 124 MB instead of 149 MB (Node 24.21, `npm run bench -- fleet`).
 * Whoever sets MALLOC_ARENA_MAX has decided otherwise. `v8Flags` are those that must be there when V8 starts.
 */
export function useOneArena(...v8Flags: readonly string[]): void {
  if (process.env["MALLOC_ARENA_MAX"] !== undefined || process.execve === undefined) return;
  const args = [process.execPath, ...v8Flags, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...process.env, MALLOC_ARENA_MAX: "1" });
}
