// SPDX-License-Identifier: Apache-2.0
/**
 * createTimings measures how long the phases of a test take, says on stderr what it waits for, and prints a table at the end.
 */
import { it } from "@jest/globals";
import { cpus, loadavg } from "node:os";

export interface Timings {
  /** Runs a phase. A phase that fails is not in the table. */
  during<T>(phase: string, run: () => Promise<T>): Promise<T>;
  /** Writes the table to stderr. */
  print(): void;
}

type Part = (name: string, run: () => Promise<void>) => void;

export function createTimings(): Timings {
  const startMs = performance.now();
  const rows: { readonly phase: string; readonly ms: number }[] = [];
  const say = (text: string) =>
    void process.stderr.write(`[cluster ${seconds(performance.now() - startMs)}] ${text}\n`);

  return {
    async during(phase, run) {
      say(`${phase} ...`);
      const from = performance.now();
      const result = await run();
      const ms = performance.now() - from;
      rows.push({ phase, ms });
      say(`${phase}: ${seconds(ms)}`);
      return result;
    },
    print() {
      const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown processor"}`;
      const load = loadavg()
        .map((value) => value.toFixed(1))
        .join(" ");
      const width = Math.max(...rows.map(({ phase }) => phase.length));
      const lines = rows.map(({ phase, ms }) => `  ${phase.padEnd(width)}  ${seconds(ms).padStart(8)}`);
      const head = `${new Date().toISOString().slice(0, 10)}, ${machine}, load ${load}, all in ${seconds(performance.now() - startMs)}`;
      process.stderr.write(`\n${head}\n${lines.join("\n")}\n\n`);
    },
  };
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/**
 * createParts returns a function in place of Jest's `it`, for a test whose parts build on each other: after one that failed, the
 * others fail at once.
 * `limitMs` is the time limit of each part.
 */
export function createParts(limitMs: number): Part {
  let failedPart: string | undefined;
  return function part(name, run) {
    const runOrSayWhy = async (): Promise<void> => {
      if (failedPart !== undefined) throw new Error(`not run, because an earlier part failed: ${failedPart}`);
      failedPart = name;
      await run();
      failedPart = undefined;
    };
    it(name, runOrSayWhy, limitMs);
  };
}
