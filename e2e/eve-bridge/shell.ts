// SPDX-License-Identifier: Apache-2.0
/**
 * Programs that a test runs.
 * Usage: `await ip("netns add pod1")`; `const { status, stdout } = await run("cnitool", ["add", …], { env })`.
 */
import { spawn } from "node:child_process";

/** How to run a program. */
export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string | Buffer;
  /** Called with the process id as soon as there is one. */
  readonly onStart?: (pid: number) => void;
}

/** How it ended. */
export interface RunOutcome {
  /** null when a signal ended it. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; whatever that is. */
export function run(file: string, args: readonly string[], options: RunOptions = {}): Promise<RunOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env: options.env ?? process.env, stdio: "pipe" });
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => (texts[name] += text));
    }
    child.stdin.on("error", () => undefined); // it need not read what it is told
    child.stdin.end(options.stdin ?? "");
    child.on("error", reject);
    child.on("close", (status, signal) => {
      resolve({ status, signal, ...texts });
    });
    if (child.pid !== undefined) options.onStart?.(child.pid);
  });
}

/** What a program printed that had to succeed. */
export async function output(file: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { status, stdout, stderr } = await run(file, args, options);
  if (status !== 0) throw new Error(`${file} ${args.join(" ")}: ${status ?? "killed"}: ${stderr || stdout}`);
  return stdout;
}

/** What `ip` printed; words are separated by blanks. */
export function ip(words: string): Promise<string> {
  return output("ip", words.split(" "));
}

/** Several `ip` commands in one process. */
export function ipBatch(lines: readonly string[]): Promise<string> {
  return output("ip", ["-batch", "-"], { stdin: `${lines.join("\n")}\n` });
}
