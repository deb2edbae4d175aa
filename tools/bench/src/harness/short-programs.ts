// SPDX-License-Identifier: Apache-2.0
/** Runs short-lived programs and measures their duration and their memory. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { BenchError } from "./run.ts";
import { readMemory } from "./proc.ts";

/** A program with its arguments, environment and stdin. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
}

let pipes = 0;

/**
 * Runs a program, and returns the milliseconds from its start to its exit. Its stdin is empty until `onStart` is done. Rejects with
 * BenchError `ended` if the program fails. Its stdin is a pipe, as container runtimes have it; Node's own child processes get sockets.
 * Node has no pipe(2), so a named pipe in `directory` is opened at both ends.
 */
export async function runShortly(
  directory: string,
  { file, args, env = process.env, stdin = "" }: Program,
  onStart: (pid: number) => unknown = () => undefined,
): Promise<number> {
  const name = join(directory, `pipe-${++pipes}`);
  execFileSync("mkfifo", [name]);
  const writeEnd = openSync(name, constants.O_RDWR);
  const readEnd = openSync(name, constants.O_RDONLY);
  unlinkSync(name);
  const startMs = performance.now();
  const child = spawn(file, args, { env, stdio: [readEnd, "pipe", "pipe"] });
  closeSync(readEnd);
  const exited = once(child, "exit").then(() => performance.now());
  const output = Promise.all(
    [child.stdout, child.stderr].filter((stream) => stream !== null).map((stream) => text(stream)),
  );
  await onStart(child.pid ?? 0);
  writeSync(writeEnd, stdin);
  closeSync(writeEnd);
  const endMs = await exited;
  const words = (await output).join("");
  if (child.exitCode === 0) return endMs - startMs;
  const status = child.exitCode ?? child.signalCode ?? "?";
  throw new BenchError("ended", `${[file, ...args].join(" ")}: ${status}: ${words}`);
}

/** The largest RSS of a program while it waits for its stdin and has loaded its modules: a peak that stays for a while. */
export async function measureWaiting(directory: string, program: Program): Promise<number> {
  let peakMb = 0;
  await runShortly(directory, program, async (pid) => {
    for (let same = 0; same < 10;) {
      const nowMb = readMemory(pid).peakMb;
      same = nowMb === peakMb ? same + 1 : 0;
      peakMb = nowMb;
      await sleep(10);
    }
  });
  return peakMb;
}
