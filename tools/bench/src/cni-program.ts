// SPDX-License-Identifier: Apache-2.0
/**
 * Short-lived programs: how long one run takes, and how much memory it has come to when it waits for its input.
 * Usage: `const { wallMs } = await runOnce({ file: node, args: ["-e", "0"] })`
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { BenchError } from "./bench-error.ts";
import { parseMemory } from "./measure/proc-files.ts";

/** A program and what it is given. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
}

/** One run. */
export interface ProgramRun {
  readonly wallMs: number;
  readonly stdout: string;
}

/** From start to exit. Throws BenchError `ended` when it fails. */
export async function runOnce(program: Program, onStart?: (pid: number) => void): Promise<ProgramRun> {
  const startMs = performance.now();
  const child = start(program);
  onStart?.(child.pid ?? 0);
  child.stdin.end(program.stdin ?? "");
  const { status, output, endMs } = await ended(child);
  if (status !== 0) throw new BenchError("ended", `${program.file} ${program.args.join(" ")}: ${status}: ${output}`);
  return { wallMs: endMs - startMs, stdout: output };
}

/** The largest RSS of a program that has read nothing yet but is ready to: it has loaded what it needs for that. */
export async function measureWaiting(program: Program): Promise<number> {
  const child = start(program);
  const peakMb = await settledPeak(child.pid ?? 0);
  child.stdin.end(program.stdin ?? "");
  await ended(child);
  return peakMb;
}

/** The largest RSS of a process so far. */
export function readPeakMb(pid: number): number {
  return parseMemory(readFileSync(`/proc/${pid}/status`, "utf8")).peakMb;
}

/** Read again until it stays for a while. */
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

function start({ file, args, env = process.env }: Program): ChildProcessWithoutNullStreams {
  const child = spawn(file, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined); // it need not read what it is told
  return child;
}

async function ended(
  child: ChildProcessWithoutNullStreams,
): Promise<{ status: number | string; output: string; endMs: number }> {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
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
