// SPDX-License-Identifier: Apache-2.0
/** ProgramRunner runs short-lived programs and measures their duration and their memory. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { BenchError } from "./run.ts";
import { parseMemory } from "./proc.ts";

/** A program with its arguments, environment and stdin. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
}

/** The result of one run. */
export interface ProgramRun {
  readonly wallMs: number;
  readonly stdout: string;
}

/** A child process and its output. */
interface Started {
  readonly child: ChildProcess;
  readonly outputs: readonly Readable[];
}

/** Starts programs with a pipe as stdin, as container runtimes do. Node's own child processes get sockets. */
export interface ProgramRunner {
  /** Runs the program from start to exit. Rejects with BenchError `ended` if it fails. */
  run(program: Program, onStart?: (pid: number) => void): Promise<ProgramRun>;
  /** The largest RSS of a program while it waits for its stdin and has loaded its modules. */
  measureWaiting(program: Program): Promise<number>;
}

/** Creates a runner whose named pipes are in `directory`. */
export function createProgramRunner(directory: string): ProgramRunner {
  let pipes = 0;

  /** Opens both ends of a named pipe, because Node has no pipe(2). */
  function openPipe(): { readonly readEnd: number; readonly writeEnd: number } {
    const name = join(directory, `pipe-${++pipes}`);
    execFileSync("mkfifo", [name]);
    const writeEnd = openSync(name, constants.O_RDWR);
    const readEnd = openSync(name, constants.O_RDONLY);
    unlinkSync(name);
    return { readEnd, writeEnd };
  }

  return {
    async run(program, onStart) {
      const { readEnd, writeEnd } = openPipe();
      writeSync(writeEnd, program.stdin ?? "");
      closeSync(writeEnd);
      const startMs = performance.now();
      const started = start(program, readEnd);
      onStart?.(started.child.pid ?? 0);
      const { status, output, endMs } = await ended(started);
      if (status !== 0)
        throw new BenchError("ended", `${program.file} ${program.args.join(" ")}: ${status}: ${output}`);
      return { wallMs: endMs - startMs, stdout: output };
    },
    async measureWaiting(program) {
      const { readEnd, writeEnd } = openPipe();
      const started = start(program, readEnd);
      const peakMb = await settledPeak(started.child.pid ?? 0);
      writeSync(writeEnd, program.stdin ?? "");
      closeSync(writeEnd);
      await ended(started);
      return peakMb;
    },
  };
}

/** The largest RSS of a process so far. */
export function readPeakMb(pid: number): number {
  return parseMemory(readFileSync(`/proc/${pid}/status`, "utf8")).peakMb;
}

/** Reads the peak until it is constant for a while. */
async function settledPeak(pid: number): Promise<number> {
  let peakMb = 0;
  for (let same = 0; same < 10;) {
    const nowMb = readPeakMb(pid);
    same = nowMb === peakMb ? same + 1 : 0;
    peakMb = nowMb;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return peakMb;
}

/** Closes this process's copy of `readEnd`. */
function start({ file, args, env = process.env }: Program, readEnd: number): Started {
  const child = spawn(file, args, { env, stdio: [readEnd, "pipe", "pipe"] });
  closeSync(readEnd);
  return { child, outputs: [child.stdout, child.stderr].filter((stream) => stream !== null) };
}

async function ended({ child, outputs }: Started): Promise<{ status: number | string; output: string; endMs: number }> {
  let output = "";
  for (const stream of outputs) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  let endMs = 0;
  child.once("exit", () => {
    endMs = performance.now();
  });
  const [status, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { status: status ?? signal ?? "?", output, endMs };
}
