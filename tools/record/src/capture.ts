// SPDX-License-Identifier: Apache-2.0
/**
 * Runs a program and records the lines that it prints, with their times.
 * Usage: `const { lines, exitCode } = await capture(process.execPath, ["tools/demo/src/main.ts"]);`
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A line of standard output. */
export interface Line {
  /** Since the first line. */
  readonly atMs: number;
  readonly text: string;
}

export interface Capture {
  readonly lines: readonly Line[];
  /** 128 if a signal ended the program. */
  readonly exitCode: number;
}

/** Copies the output to this process's own. Rejects if the program cannot be started. */
export async function capture(program: string, args: readonly string[]): Promise<Capture> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => {
      resolve(status ?? 128);
    });
  });
  const lines = new Array<Line>();
  let startMs: number | undefined;
  for await (const text of createInterface({ input: child.stdout })) {
    startMs ??= performance.now();
    lines.push({ atMs: performance.now() - startMs, text });
    console.log(text);
  }
  return { lines, exitCode: await ended };
}
