// SPDX-License-Identifier: Apache-2.0
/**
 * A service under measurement over its restarts: one process at a time, one log.
 * Usage: `await using operator = createMeasuredService({ script, args, log, fail }); await operator.start(run.signal)`
 */
import { readFileSync } from "node:fs";
import { BenchError } from "./bench-error.ts";
import { startMeasured, type MeasuredOptions, type MeasuredProcess } from "./measured-process.ts";
import type { ProcessReading } from "./process-meter.ts";

/** Disposing it kills the process. */
export interface MeasuredService extends AsyncDisposable {
  /** Resolves when it is ready. One that runs is stopped before. */
  start(signal: AbortSignal): Promise<void>;
  /** In order, as a rollout does. */
  stop(): Promise<void>;
  /** Of the process that runs. Throws BenchError `ended` when there is none. */
  read(): ProcessReading;
  /** How long each stop took. */
  readonly stopSeconds: readonly number[];
  /** Warnings and errors in its log, and what is no line of a log; none are expected. */
  complaints(): readonly string[];
  /** The end of its log. */
  lastWords(): string;
}

export function createMeasuredService(options: MeasuredOptions): MeasuredService {
  const stopSeconds: number[] = [];
  let running: MeasuredProcess | undefined;

  async function stop(): Promise<void> {
    if (running === undefined) return;
    stopSeconds.push(await running.stop());
    running = undefined;
  }

  const lines = () => readFileSync(options.log, "utf8").split("\n");

  return {
    async start(signal) {
      await stop();
      running = await startMeasured(options);
      await running.ready(signal);
    },
    stop,
    read() {
      if (running === undefined) throw new BenchError("ended", `${options.script} does not run`);
      return running.meter.read();
    },
    stopSeconds,
    complaints: () =>
      lines().filter((line) => line !== "" && (!line.startsWith("{") || /"level":"(?:warn|error)"/.test(line))),
    lastWords: () => lines().slice(-20).join("\n"),
    async [Symbol.asyncDispose]() {
      await running?.[Symbol.asyncDispose]();
    },
  };
}
