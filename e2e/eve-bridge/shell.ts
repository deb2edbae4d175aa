// SPDX-License-Identifier: Apache-2.0
/** Runs programs in tests. */
import { spawn } from "node:child_process";

/** How to run a program. */
export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string | Buffer;
  /** Called with the process id after the start. */
  readonly onStart?: (pid: number) => void;
}

/** The result of a program. */
export interface RunOutcome {
  /** The exit status; null if a signal ended the program. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program until it ends, also with a status other than 0. */
export function run(file: string, args: readonly string[], options: RunOptions = {}): Promise<RunOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env: options.env ?? process.env, stdio: "pipe" });
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => (texts[name] += text));
    }
    child.stdin.on("error", () => undefined); // the program may end without reading its stdin
    child.stdin.end(options.stdin ?? "");
    child.on("error", reject);
    child.on("close", (status, signal) => {
      resolve({ status, signal, ...texts });
    });
    if (child.pid !== undefined) options.onStart?.(child.pid);
  });
}

/** Runs a program and returns its output. Rejects if the program fails. */
export async function output(file: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { status, stdout, stderr } = await run(file, args, options);
  if (status !== 0) throw new Error(`${file} ${args.join(" ")}: ${status ?? "killed"}: ${stderr || stdout}`);
  return stdout;
}

/** Runs `ip` and returns its output. Arguments are separated by blanks. */
export function ip(words: string): Promise<string> {
  return output("ip", words.split(" "));
}

/** Runs several `ip` commands in one process. */
export function ipBatch(lines: readonly string[]): Promise<string> {
  return output("ip", ["-batch", "-"], { stdin: `${lines.join("\n")}\n` });
}
