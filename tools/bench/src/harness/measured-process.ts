// SPDX-License-Identifier: Apache-2.0
/**
 * startMeasured starts a service as a direct child process, so that /proc/<pid> shows only the service. `setpriv`
 * (util-linux) asks the kernel to kill the process when the benchmark dies, and then execs it.
 */
import { findWorkspaceRoot, podCommand, type PodAccount } from "@switchyard/testing";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createProcessMeter, type ProcessMeter } from "./process-meter.ts";
import { BenchError, until, untilReady } from "./run-control.ts";

export interface MeasuredOptions {
  /** The script that Node runs. */
  readonly script: string;
  readonly args: readonly string[];
  /** Node's flags and additional environment variables, as in the program's container. */
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The service account with which it connects to the API server; absent if it does not. */
  readonly pod?: PodAccount;
  /** The file to which its output is appended. */
  readonly log: string;
  /** Called with the end of the log if the process ends unexpectedly. */
  readonly fail: (error: BenchError) => void;
  /** Directory for a CPU profile. */
  readonly cpuProf?: string | undefined;
}

/** A running service. Disposing it kills the process. */
export interface MeasuredProcess extends AsyncDisposable {
  readonly meter: ProcessMeter;
  /** Resolves once /readyz is 200. Rejects with the signal's reason. */
  ready(signal: AbortSignal): Promise<void>;
  /** Sends SIGTERM and returns the seconds until the process ended. Kills it if it takes too long. */
  stop(): Promise<number>;
}

/** The time after which a process that does not end is killed; longer than the goal allows. */
const stopLimitMs = 15_000;

/** Rejects with BenchError `platform` if the process cannot be started. */
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
    throw new BenchError("platform", "cannot start setpriv; install util-linux", cause);
  }
  let isWanted = true;
  const exited = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      const how = code ?? signal ?? "?";
      if (isWanted) fail(new BenchError("ended", `${script} ended with ${how}; the end of its log:\n${logEnd()}`));
      resolve();
    });
  });

  function words(): string {
    return readFileSync(log).toString("utf8", logBegin);
  }

  function logEnd(): string {
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

/** The port of the health server, which the service logs. */
function healthPortIn(log: string): number | undefined {
  const [, port] = /"healthPort":(\d+)/.exec(log) ?? [];
  return port === undefined ? undefined : Number(port);
}

/**
 * Bundles programs with tools/nx/bundle.js, as they are shipped. If Node ran the TypeScript sources, its compiler would
 * count as memory of the program.
 * Builds dist/apps/<app>/main.js and its chunks, unless they are up to date, and returns the path of main.js.
 */
export async function buildApp(app: "operator" | "config-daemon" | "webhook" | "ovn-offload"): Promise<string> {
  const root = findWorkspaceRoot();
  const nx = join(root, "node_modules/.bin/nx");
  await promisify(execFile)(nx, ["run", `@switchyard/${app}:build`], {
    cwd: root,
    env: { ...process.env, NX_DAEMON: "false" },
  });
  return join(root, `dist/apps/${app}/main.js`);
}

/**
 * Bundles a program that is not an app, and returns the path of main.js. That is below the workspace, so that the program
 * finds its native packages. `entry` is relative to the workspace.
 */
export async function bundleProgram(entry: string): Promise<string> {
  const root = findWorkspaceRoot();
  const outdir = join(root, "dist/bench", entry.replace(/\.ts$/, "").replaceAll("/", "-"));
  await promisify(execFile)(process.execPath, [join(root, "tools/nx/bundle.js"), entry, outdir], { cwd: root });
  return join(outdir, "main.js");
}
