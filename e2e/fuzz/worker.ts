// SPDX-License-Identifier: Apache-2.0
/** serveWorker runs one target in a worker thread: bundle-target.mjs makes the worker's program of it and of the targets of a file. */
import type { FuzzTarget } from "@switchyard/testing/fuzz";
import { parentPort, workerData } from "node:worker_threads";
import { createCounters, type FileCounters } from "./counters.ts";
import { explore, type Explored, type Finding } from "./explore.ts";
import { createRandom } from "./random.ts";
import { writeInput } from "./shared-input.ts";

/** What the worker is started with. */
export interface WorkerInput {
  readonly name: string;
  readonly seed: number;
  readonly budgetMs: number;
  readonly words: readonly string[];
  /** In addition to the target's seeds. */
  readonly corpus: readonly Uint8Array[];
  readonly shared: SharedArrayBuffer;
  readonly isBlind?: boolean;
  readonly maxRuns?: number;
  readonly maxFindings?: number;
}

/** What the worker sends. */
export type WorkerMessage = { readonly finding: Finding } | { readonly explored: Explored };

/** Names of the targets of a file, for a run that does not know them. */
export async function serveWorker(targets: readonly FuzzTarget[]): Promise<void> {
  const { name, seed, budgetMs, words, corpus, shared, isBlind, maxRuns, maxFindings } = workerData as WorkerInput;
  const target = targets.find((each) => each.name === name);
  if (target === undefined) throw new RangeError(`the file has no target "${name}"`);
  const send = (message: WorkerMessage): void => {
    parentPort?.postMessage(message);
  };
  const { __coverage__: coverage = {} } = globalThis as { __coverage__?: Record<string, FileCounters> };
  const explored = await explore({
    target,
    counters: createCounters(coverage),
    random: createRandom(seed),
    inputs: [...target.seeds.map((each) => Buffer.from(each)), ...corpus.map((each) => Buffer.from(each))],
    words,
    budgetMs,
    ...(isBlind !== undefined && { isBlind }),
    ...(maxRuns !== undefined && { maxRuns }),
    ...(maxFindings !== undefined && { maxFindings }),
    onInput: (input) => {
      writeInput(shared, input);
    },
    onFinding: (finding) => {
      send({ finding });
    },
  });
  send({ explored });
}
