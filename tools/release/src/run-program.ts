// SPDX-License-Identifier: Apache-2.0
/**
 * runProgram runs a program to its end and returns its output.
 * Usage: `const version = await runProgram("helm", ["version", "--short"], { cwd: root })`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
  readonly code: ReleaseErrorCode;

  constructor(code: ReleaseErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface ProgramOptions {
  readonly cwd?: string;
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/**
 * ReleaseError is a failure whose message is for the person who runs the command.
 * "usage": the command line is wrong. "failed": the work could not be done.
 */
type ReleaseErrorCode = "usage" | "failed";

/** Returns stdout. Rejects with a ReleaseError that has the command and its output if the program fails. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env = {}, input = "" }: ProgramOptions = {},
): Promise<string> {
  const command = [program.split("/").at(-1), ...args].join(" ");
  const child = spawn(program, args, { ...(cwd !== undefined && { cwd }), env: { ...process.env, ...env } });
  child.stdin.on("error", () => undefined); // EPIPE: the program ended before it read all input
  child.stdin.end(input);
  const end = once(child, "close");
  try {
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), end]);
    if (child.exitCode === 0) return stdout;
    const status =
      child.exitCode === null ? `ended by ${child.signalCode ?? "a signal"}` : `exit code ${child.exitCode}`;
    throw new ReleaseError("failed", `${command}: ${status}: ${`${stderr}${stdout}`.trim().slice(-4000)}`);
  } catch (error) {
    if (error instanceof ReleaseError) throw error;
    throw new ReleaseError("failed", `${command}: ${String(error)}`, { cause: error });
  }
}
