// SPDX-License-Identifier: Apache-2.0
/**
 * runTarget runs a target with counters in a worker thread, and ends the worker if one input keeps it busy or takes too much memory. The
 * input is then a finding.
 */
import { findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { countInputs, createSharedInput, readInput } from "./shared-input.ts";
import type { Explored, Finding } from "./explore.ts";
import type { WorkerInput, WorkerMessage } from "./worker.ts";

export interface RunOptions {
  /** Path of the file with the targets, from the root of the workspace. */
  readonly file: string;
  readonly name: string;
  readonly seed: number;
  readonly budgetMs: number;
  readonly corpus: readonly Uint8Array[];
  readonly isBlind?: boolean;
  readonly maxRuns?: number;
  readonly maxFindings?: number;
  readonly limits?: Limits;
}

/** What one input may use before the worker is ended. */
export interface Limits {
  readonly hangMs: number;
  /** Of the heap of V8. Buffers are limited by `processMiB`. */
  readonly heapMiB: number;
  /** More than the process had at the beginning. */
  readonly processMiB: number;
}

export interface TargetRun {
  readonly findings: readonly Finding[];
  /** Undefined if the worker was ended. */
  readonly explored: Explored | undefined;
}

const defaultLimits: Limits = { hangMs: 60_000, heapMiB: 512, processMiB: 1_500 };
const pollMs = 250;
/** That of a main thread. Workers have four times as much. */
const stackSizeMb = 1;

/** Rejects if the sources cannot be bundled, or if the worker fails outside of an input. */
export async function runTarget({ limits = defaultLimits, file, ...options }: RunOptions): Promise<TargetRun> {
  const bundle = await bundleTargets(file);
  const shared = createSharedInput();
  const words = JSON.parse(readFileSync(`${bundle}.words.json`, "utf8")) as readonly string[];
  const input: WorkerInput = { ...options, words, shared };
  const worker = new Worker(bundle, {
    workerData: input,
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMiB, stackSizeMb },
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const findings: Finding[] = [];
  let explored: Explored | undefined;
  const ended = Promise.withResolvers<undefined>();

  function end(key: string, text: string): void {
    findings.push({ key, text, input: readInput(shared) });
    ended.resolve(undefined);
  }

  worker.on("message", (message: WorkerMessage) => {
    if ("finding" in message) findings.push(message.finding);
    else explored = message.explored;
  });
  worker.on("error", (error: Error & { readonly code?: string }) => {
    if (error.code === "ERR_WORKER_OUT_OF_MEMORY")
      end("memory", `an input takes more than ${limits.heapMiB} MiB of heap`);
    // An error that the reader throws later, from a callback.
    else if (countInputs(shared) > 0) end("uncaught", error.stack ?? error.message);
    else ended.reject(error);
  });
  worker.on("exit", () => {
    ended.resolve(undefined);
  });

  const startRss = process.memoryUsage.rss();
  let count = 0;
  let since = Date.now();
  const watch = setInterval(() => {
    const now = countInputs(shared);
    if (now !== count) [count, since] = [now, Date.now()];
    const moreMiB = (process.memoryUsage.rss() - startRss) / 1024 / 1024;
    if (count > 0 && Date.now() - since > limits.hangMs) end("hang", `an input takes more than ${limits.hangMs} ms`);
    else if (moreMiB > limits.processMiB) end("memory", `an input takes more than ${limits.processMiB} MiB of memory`);
  }, pollMs);
  try {
    await ended.promise;
  } finally {
    clearInterval(watch);
    await worker.terminate();
  }
  return { findings, explored };
}

const bundles = new Map<string, Promise<string>>();

/** Returns the path of the bundle with the targets of a file, which is made once for a process. */
function bundleTargets(file: string): Promise<string> {
  const known = bundles.get(file);
  if (known !== undefined) return known;
  const made = bundle(file);
  bundles.set(file, made);
  return made;
}

async function bundle(file: string): Promise<string> {
  const root = findWorkspaceRoot();
  // Below the sources' project, so that packages are found from there.
  const outfile = join(
    file.split("/").slice(0, 2).join("/"),
    "node_modules/.cache/fuzz",
    `${file.replaceAll("/", "-")}.mjs`,
  );
  await outputOf(process.execPath, [join(root, "e2e/fuzz/bundle-target.mjs"), file, outfile], { cwd: root });
  return join(root, outfile);
}
