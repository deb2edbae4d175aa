// SPDX-License-Identifier: Apache-2.0
/**
 * MeasuredService is a service that can be restarted: one process at a time, one log. It runs as a direct child process, so that
 * /proc/<pid> shows only the service. `setpriv` (util-linux) asks the kernel to kill the process when the benchmark dies.
 */
import { eventually, findWorkspaceRoot, outputOf, podCommand, type PodAccount } from "@switchyard/testing";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readProcess, type ProcessReading } from "./proc.ts";
import { BenchError, untilReady } from "./run.ts";

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

/** Disposing it kills the process. */
export interface MeasuredService extends AsyncDisposable {
  /** Stops the running process, if any, starts a new one, and resolves when it is ready. Rejects with the signal's reason. */
  start(signal: AbortSignal): Promise<void>;
  /** Stops the process with SIGTERM, as a rollout does. */
  stop(): Promise<void>;
  /** The figures of the running process. Throws BenchError `ended` if no process is running. */
  read(): ProcessReading;
  /** Seconds from SIGTERM to the end of each process. */
  readonly stopSeconds: readonly number[];
  /** Warnings, errors and lines that are not JSON in the log. None are expected. */
  complaints(): readonly string[];
  /** The end of its log. */
  logEnd(): string;
}

/** The time after which a process that does not end is killed; longer than the goal allows. */
const stopLimitMs = 15_000;

interface RunningProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  /** Length of the log before the start. */
  readonly logBegin: number;
}

export function createMeasuredService(options: MeasuredOptions): MeasuredService {
  const { script, log, fail } = options;
  const stopSeconds: number[] = [];
  let running: RunningProcess | undefined;
  const words = (from = 0) => readFileSync(log).toString("utf8", from);
  const logEnd = () => words(running?.logBegin).split("\n").slice(-20).join("\n");

  async function stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    if (running === undefined) return;
    const { child, exited } = running;
    running = undefined;
    const beginMs = performance.now();
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), stopLimitMs);
    await exited;
    clearTimeout(late);
    if (signal === "SIGTERM") stopSeconds.push((performance.now() - beginMs) / 1000);
  }

  return {
    async start(signal) {
      await stop();
      const started = await startProcess(options);
      running = started;
      started.child.once("exit", (code, signalName) => {
        if (running !== started) return;
        const how = code ?? signalName ?? "?";
        fail(new BenchError("ended", `${script} ended with ${how}; the end of its log:\n${logEnd()}`));
      });
      // The service logs the port of its health server.
      const readPort = () => /"healthPort":(\d+)/.exec(words(started.logBegin))?.[1];
      const port = await eventually(`the start of ${script}`, readPort, { withinMs: 60_000, everyMs: 20, signal });
      await untilReady(`http://127.0.0.1:${port}/readyz`, signal);
    },
    stop: () => stop(),
    read() {
      if (running === undefined) throw new BenchError("ended", `${script} is not running`);
      return readProcess(running.child.pid ?? 0);
    },
    stopSeconds,
    complaints: () =>
      words()
        .split("\n")
        .filter((line) => line !== "" && (!line.startsWith("{") || /"level":"(?:warn|error)"/.test(line))),
    logEnd,
    [Symbol.asyncDispose]: () => stop("SIGKILL"),
  };
}

/** Rejects with BenchError `platform` if the process cannot be started. */
async function startProcess(options: MeasuredOptions): Promise<RunningProcess> {
  const { script, args, nodeFlags = [], env = {}, pod, log, cpuProf } = options;
  const output = openSync(log, "a");
  const logBegin = statSync(log).size;
  const profiler = cpuProf === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${cpuProf}`];
  const command = [...nodeFlags, ...profiler, script, ...args, "--health-address", "127.0.0.1:0"];
  const plain = { file: process.execPath, args: command };
  const { file, args: all } = pod === undefined ? plain : podCommand(pod, [process.execPath, ...command]);
  const child = spawn("setpriv", ["--pdeathsig", "KILL", file, ...all], {
    env: { ...process.env, ...env },
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  try {
    await once(child, "spawn");
  } catch (cause) {
    throw new BenchError("platform", "cannot start setpriv; install util-linux", cause);
  }
  return { child, exited: once(child, "exit"), logBegin };
}

/** Builds dist/apps/<app>/main.js and its chunks, unless they are up to date, and returns the path of main.js. */
export async function buildApp(app: "operator" | "config-daemon" | "webhook" | "ovn-offload"): Promise<string> {
  const cwd = findWorkspaceRoot();
  const nx = join(cwd, "node_modules/.bin/nx");
  await outputOf(nx, ["run", `@switchyard/${app}:build`], { cwd, env: { NX_DAEMON: "false" } });
  return join(cwd, `dist/apps/${app}/main.js`);
}

/**
 * Bundles a program that is not an app, as apps are shipped, and returns the path of main.js. If Node ran the TypeScript
 * sources, its compiler would count as memory of the program. The bundle is below the workspace, so that the program finds
 * its native packages. `entry` is relative to the workspace.
 */
export async function bundleProgram(entry: string): Promise<string> {
  const cwd = findWorkspaceRoot();
  const outdir = join(cwd, "dist/bench", entry.replace(/\.ts$/, "").replaceAll("/", "-"));
  await outputOf(process.execPath, [join(cwd, "tools/nx/bundle.js"), entry, outdir], { cwd });
  return join(outdir, "main.js");
}
