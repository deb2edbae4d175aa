// SPDX-License-Identifier: Apache-2.0
/**
 * A service of ours as a child process whose pid is its own: /proc/<pid> shows it and nothing between. `setpriv`
 * (util-linux) gives it to the kernel to kill when we die, and then becomes it, with the service account of a pod.
 * Usage: `await using operator = await startMeasured({ script, args, log, fail }); operator.meter.read()`
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, closeSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { podCommand, type PodAccount } from "@switchyard/testing";
import { BenchError } from "./bench-error.ts";
import { createProcessMeter, type ProcessMeter } from "./process-meter.ts";
import { untilReady } from "./readiness.ts";
import { until } from "./until.ts";

export interface MeasuredOptions {
  /** What Node runs. */
  readonly script: string;
  readonly args: readonly string[];
  /** Flags of Node itself, and environment beside our own: as the program's container has them. */
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How it reaches the API server, if it does. */
  readonly pod?: PodAccount;
  /** File for its output, which is appended. */
  readonly log: string;
  /** Told, with the log's end, if it ends before it is told to. */
  readonly fail: (error: BenchError) => void;
  /** Directory for a CPU profile. */
  readonly cpuProf?: string | undefined;
}

/** Disposing it kills it. */
export interface MeasuredProcess extends AsyncDisposable {
  readonly meter: ProcessMeter;
  /** Resolves once /readyz is 200. Rejects with the signal's reason. */
  ready(signal: AbortSignal): Promise<void>;
  /** Asks it to end in order; the seconds that it took. It is killed when it takes too long. */
  stop(): Promise<number>;
}

/** How long a process may take to end before it is killed: more than any may. */
const stopLimitMs = 15_000;

/** Rejects with BenchError `platform` where it cannot be started. */
export async function startMeasured(options: MeasuredOptions): Promise<MeasuredProcess> {
  const { script, args, nodeFlags = [], env = {}, pod, log, fail, cpuProf } = options;
  const output = openSync(log, "a");
  const logBegin = statSync(log).size;
  const profiler = cpuProf === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${cpuProf}`];
  const command = [...nodeFlags, ...profiler, script, ...args, "--health-address", "127.0.0.1:0"];
  const started =
    pod === undefined ? { file: process.execPath, args: command } : podCommand(pod, [process.execPath, ...command]);
  const child = spawn("setpriv", ["--pdeathsig", "KILL", started.file, ...started.args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  try {
    await once(child, "spawn");
  } catch (cause) {
    throw new BenchError("platform", "setpriv cannot be started: util-linux is needed", cause);
  }
  let isWanted = true;
  const exited = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      const how = code ?? signal ?? "?";
      if (isWanted) fail(new BenchError("ended", `${script} ended with ${how}; its last words:\n${lastWords()}`));
      resolve();
    });
  });

  function words(): string {
    return readFileSync(log).toString("utf8", logBegin);
  }

  function lastWords(): string {
    return words().split("\n").slice(-20).join("\n");
  }

  async function end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    isWanted = false;
    child.kill(signal);
    await exited;
  }

  return {
    meter: createProcessMeter(child.pid ?? 0),
    async ready(signal) {
      const listens = () => healthPortIn(words()) !== undefined;
      await until(`the start of ${script}`, listens, { withinMs: 60_000, signal });
      await untilReady(`http://127.0.0.1:${healthPortIn(words()) ?? 0}/readyz`, signal);
    },
    async stop() {
      const beginMs = performance.now();
      const giveUp = new AbortController();
      const late = sleep(stopLimitMs, undefined, { signal: giveUp.signal }).then(
        () => end("SIGKILL"),
        () => undefined,
      );
      await end("SIGTERM");
      giveUp.abort();
      await late;
      return (performance.now() - beginMs) / 1000;
    },
    [Symbol.asyncDispose]: () => end("SIGKILL"),
  };
}

/** A service tells the port that it was given. */
function healthPortIn(log: string): number | undefined {
  const [, port] = /"healthPort":(\d+)/.exec(log) ?? [];
  return port === undefined ? undefined : Number(port);
}
