// SPDX-License-Identifier: Apache-2.0
/**
 * Functions that reduce the memory of a service. By default V8 lets the heap grow to several times the size of the live
 * objects before it collects, and reserves up to 48 MB for new objects. An operator of 1,000 nodes used 265 MB with these
 * defaults and uses 109 MB with keepHeapSmall, for 10 % more CPU time (Node 24.21, `npm run bench -- fleet`).
 * runService calls keepHeapSmall. A main.ts calls restartWithMemoryFlags, restartWithSmallHeap or restartWithOneMallocArena before anything else, and a service
 * can call setHeapGrowthStep and keepCompiledCode, and collectAtQuarterOfLimit and releaseMemoryAfter when it has started.
 * Usage: `restartWithOneMallocArena(minSemiSpaceFlag)`.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Keeps the heap close to the size of the live objects. V8 reads both flags at each collection, so they can be set late. */
export function keepHeapSmall(): void {
  setFlagsFromString("--heap-growing-percent=20");
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Disables V8's optimizing compilers, for a process that gets occasional requests. They take 10 to 40 MB during and after
 * their work, and such a process seldom runs code often enough to profit from it. The baseline compiler stays enabled.
 * Under load at 1,000 nodes the webhook uses 105 MB instead of 136 MB and the same CPU time (Node 24.21,
 * `npm run bench -- webhook`).
 */
export function disableOptimizer(): void {
  setFlagsFromString("--no-opt");
  setFlagsFromString("--no-maglev");
}

/**
 * V8 flag that gives new objects 8 MB from the start, for a process that receives a thousand objects at once. They fill
 * V8's initial 1 MB within 2 ms and are then copied although they soon become garbage. The flag saves 12 % of the
 * operator's CPU time and costs 10 MB (Node 24.21, `npm run bench -- fleet`).
 */
export const minSemiSpaceFlag = "--min-semi-space-size=8";

/**
 * 1 MB for new objects and one helper thread for the garbage collector. No collections by V8 while the process is idle,
 * which freed nothing. No list of public certificate authorities, which Node otherwise reads for the first TLS
 * connection: 2 MB, and a twentieth of the instructions of a start. The entry points of images have these flags,
 * because Node and V8 read them only at their start. V8 ends a process that changes --memory-reducer-gc-count after
 * such a collection has begun (Node 24.21).
 */
export const memoryFlags: readonly string[] = [
  ...["--max-semi-space-size=1", "--v8-pool-size=1"],
  ...["--no-memory-reducer", "--use-openssl-ca"],
];

/**
 * Variables of glibc's malloc for a process that is mostly idle: one arena, and freed memory of 64 KB and more goes back to the kernel
 * at once. By default, glibc keeps up to 64 MB of freed memory after it has seen larger blocks. They save 0.8 MB of the daemon's 65 MB.
 * The image of the config daemon has them.
 */
export const mallocVariables: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_MMAP_THRESHOLD_: "65536",
  MALLOC_TRIM_THRESHOLD_: "65536",
};

/** Node's own modules that all of these services use; a server that listens loads cluster. Others are loaded with them. */
const builtins = ["cluster", "fs/promises", "http", "https", "perf_hooks", "timers/promises"];

/**
 * Sets up a process that is mostly idle for little memory: memoryFlags, with which it replaces itself unless it has them, and no
 * compilation to machine code. Together they save 5 MB of the daemon's 68 MB, mostly pages of V8's compilers that are
 * then never touched. They save 17 MB of ovn-offload's 106 MB with 1,000 hosts, mostly room for new objects. The second
 * start takes 25 ms.
 *
 * Node's own modules are loaded before V8's flags change, because V8 then refuses the code of these modules that is compiled into
 * Node: a fifth of the instructions of a start (Node 24.21). Import the service afterwards.
 */
export function restartWithMemoryFlags(): void {
  restartWith(memoryFlags);
  for (const name of builtins) process.getBuiltinModule(name);
  disableOptimizer();
  setFlagsFromString("--no-sparkplug");
}

/**
 * Lets the heap grow by at least 2 MB instead of 8 between two collections. It saves 1 MB of the daemon's 66 MB (Node 24.21). For a
 * process with few objects: with many, each collection takes long.
 */
export function setHeapGrowthStep(): void {
  setFlagsFromString("--optimize-for-size");
}

/**
 * Lets V8 begin a collection when the heap has used a quarter of the room up to its limit. Without it, a heap of 8 MB grows by 6 to 9
 * MB before the next collection, also with setHeapGrowthStep. While 64 subfunctions come and go, the daemon uses 67 MB instead of 70
 * (Node 24.21). For a process with few objects. Call it after the start, whose objects stay: a collection would find no garbage.
 */
export function collectAtQuarterOfLimit(): void {
  setFlagsFromString("--incremental-marking-hard-trigger=25");
}

/**
 * Keeps the bytecode of functions that have not run for a while, which V8 otherwise drops when it collects garbage. For a process
 * that does the same every few minutes: an idle daemon would compile its pass again each time, which is a third of the pass's CPU
 * time (Node 24.21, `npm run bench -- daemon --vm --ovs --idle-seconds 300`).
 */
export function keepCompiledCode(): void {
  setFlagsFromString("--no-flush-bytecode");
}

/**
 * Collects garbage and returns free memory to the kernel: after the start, 3 MB of the daemon's 65 MB. It takes 15 ms, and V8 does
 * not do it by itself while a process is idle (Node 24.21).
 */
function releaseMemory(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc"); // only new contexts have it
  if (typeof collect === "function") Reflect.apply(collect, undefined, [{ type: "major", flavor: "last-resort" }]);
}

/**
 * Returns a function that calls releaseMemory `delayMs` later, once for all its calls of that time. In a burst of work, V8 would
 * let the heap grow to twice the size of the live objects before it collects, whatever its flags say.
 */
export function releaseMemoryAfter(delayMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      releaseMemory();
    }, delayMs).unref();
  };
}

/**
 * Replaces this process by the same program with at most 4 MB for new objects and a heap close to the size of the live
 * ones. It is for a command that reads much and ends soon. `switchyard doctor` with the objects of 1,000 nodes uses 150
 * MB instead of 290 MB, and no more time; the second start takes 25 ms (Node 24.21).
 */
export function restartWithSmallHeap(): void {
  restartWith(["--max-semi-space-size=4", "--heap-growing-percent=20"]);
}

function restartWith(flags: readonly string[]): void {
  if (flags.every((flag) => process.execArgv.includes(flag)) || process.execve === undefined) return;
  const args = [process.execPath, ...flags, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, args, process.env);
}

/**
 * Replaces this process by the same program with one glibc malloc arena for all threads, since the arenas of V8's compiler
 * threads never shrink. The operator at 1,000 nodes uses 124 MB instead of 149 MB (Node 24.21, `npm run bench -- fleet`).
 * Does nothing if MALLOC_ARENA_MAX is set. `v8Flags` are flags that V8 reads only at its start.
 */
export function restartWithOneMallocArena(...v8Flags: readonly string[]): void {
  if (process.env["MALLOC_ARENA_MAX"] !== undefined || process.execve === undefined) return;
  const args = [process.execPath, ...v8Flags, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...process.env, MALLOC_ARENA_MAX: "1" });
}
