// SPDX-License-Identifier: Apache-2.0
/** MeasuredService is a measured service that can be restarted: one process at a time, one log. */
import { readFileSync } from "node:fs";
import { BenchError } from "./run-control.ts";
import { startMeasured, type MeasuredOptions, type MeasuredProcess } from "./measured-process.ts";
import type { ProcessReading } from "./process-meter.ts";

/** A service. Disposing it kills the process. */
export interface MeasuredService extends AsyncDisposable {
  /** Stops the running process, if any, starts a new one, and resolves when it is ready. */
  start(signal: AbortSignal): Promise<void>;
  /** Stops the process with SIGTERM, as a rollout does. */
  stop(): Promise<void>;
  /** The figures of the running process. Throws BenchError `ended` if no process is running. */
  read(): ProcessReading;
  /** The duration of each stop. */
  readonly stopSeconds: readonly number[];
  /** Warnings, errors and lines that are not JSON in the log. None are expected. */
  complaints(): readonly string[];
  /** The end of its log. */
  logEnd(): string;
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
      if (running === undefined) throw new BenchError("ended", `${options.script} is not running`);
      return running.meter.read();
    },
    stopSeconds,
    complaints: () =>
      lines().filter((line) => line !== "" && (!line.startsWith("{") || /"level":"(?:warn|error)"/.test(line))),
    logEnd: () => lines().slice(-20).join("\n"),
    async [Symbol.asyncDispose]() {
      await running?.[Symbol.asyncDispose]();
    },
  };
}
