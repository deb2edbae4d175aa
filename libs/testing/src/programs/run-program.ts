// SPDX-License-Identifier: Apache-2.0
/**
 * runProgram runs a program to its end and returns what it printed.
 * Usage: `const { status, stdout } = await runProgram("tar", ["-tf", archive]);`
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import { text } from "node:stream/consumers";
import { TestingError } from "../testing-error.ts";

export interface ProgramOptions {
  readonly cwd?: string;
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Text for stdin, which is empty by default. */
  readonly input?: string;
  /** Kills the program when it is aborted. */
  readonly signal?: AbortSignal;
}

export interface ProgramEnd {
  /** The exit code, or the name of the signal that ended the program: "0", "SIGKILL". */
  readonly status: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Length of the output in the error of a failed program. */
const shownCharacters = 4_000;

/** Resolves when the program has ended, whatever its exit code. Rejects with TestingError `program` if it cannot be started. */
export async function runProgram(
  file: string,
  args: readonly string[],
  { cwd, env = {}, input = "", signal }: ProgramOptions = {},
): Promise<ProgramEnd> {
  const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, signal });
  child.stdin.on("error", () => undefined); // EPIPE: the program ended before it read all input
  child.stdin.end(input);
  try {
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    return { status: child.signalCode ?? String(child.exitCode), stdout, stderr };
  } catch (cause) {
    throw new TestingError("program", `cannot run ${file}: ${String(cause)}`, { cause });
  }
}

/** Returns stdout. Rejects with TestingError `program`, which has the command and the end of its output, if the program fails. */
export async function outputOf(file: string, args: readonly string[], options: ProgramOptions = {}): Promise<string> {
  const { status, stdout, stderr } = await runProgram(file, args, options);
  if (status === "0") return stdout;
  const said = `${stderr}${stdout}`.trim().slice(-shownCharacters);
  throw new TestingError("program", `${[basename(file), ...args].join(" ")}: exit code ${status}: ${said}`);
}
