// SPDX-License-Identifier: Apache-2.0
/**
 * A program of ours as a child process whose pid is its own: /proc/<pid> shows it and nothing between. `setpriv`
 * (util-linux) gives it to the kernel to kill when we die, and then becomes it.
 * Usage: `await using operator = await startMeasured({ script, args, log, fail }); operator.meter.read()`
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, closeSync, readFileSync } from "node:fs";
import { BenchError } from "../bench-error.ts";
import { createProcessMeter, type ProcessMeter } from "./process-meter.ts";

export interface MeasuredOptions {
  /** What Node runs. */
  readonly script: string;
  readonly args: readonly string[];
  /** File for its output, which is appended. */
  readonly log: string;
  /** Told, with the log's end, if it ends before it is told to. */
  readonly fail: (error: BenchError) => void;
  /** For Node itself: "--cpu-prof". */
  readonly nodeFlags?: readonly string[];
}

/** Disposing it kills it. */
export interface MeasuredProcess extends AsyncDisposable {
  readonly pid: number;
  readonly meter: ProcessMeter;
  /** Asks it to end in order, and waits; its exit code. */
  stop(): Promise<number>;
}

/** Rejects with BenchError `platform` where it cannot be started. */
export async function startMeasured(options: MeasuredOptions): Promise<MeasuredProcess> {
  const { script, args, log, fail, nodeFlags = [] } = options;
  const output = openSync(log, "a");
  const command = ["--pdeathsig", "KILL", process.execPath, ...nodeFlags, script, ...args];
  const child = spawn("setpriv", command, { stdio: ["ignore", output, output] });
  closeSync(output);
  try {
    await once(child, "spawn");
  } catch (cause) {
    throw new BenchError("platform", "setpriv cannot be started: util-linux is needed", cause);
  }
  const { pid = 0 } = child;
  const exited = new Promise<number>((resolve) => {
    child.once("exit", (code, signal) => {
      resolve(code ?? (signal === null ? 1 : 128));
    });
  });
  let isWanted = true;
  void exited.then((code) => {
    if (isWanted) fail(new BenchError("ended", `${script} ended with ${code}; its last words:\n${lastWords(log)}`));
  });

  async function end(signal: "SIGTERM" | "SIGKILL"): Promise<number> {
    isWanted = false;
    child.kill(signal);
    return exited;
  }

  return {
    pid,
    meter: createProcessMeter(pid),
    stop: () => end("SIGTERM"),
    async [Symbol.asyncDispose]() {
      await end("SIGKILL");
    },
  };
}

function lastWords(log: string): string {
  return readFileSync(log, "utf8").split("\n").slice(-20).join("\n");
}
