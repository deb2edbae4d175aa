// SPDX-License-Identifier: Apache-2.0
/**
 * runHostProgram runs a program of the host and returns what it prints.
 * Usage: `const output = await runHostProgram({ root, at, failureCode: "GRUBBY_FAILED", timeoutMs }, ["grubby", "--info=ALL"]);`
 */
import { HostError, withHostError, type HostOperation } from "../calls/host-error.ts";
import { inRoot, runProgram, type Command } from "./run-program.ts";

export interface HostProgramOptions {
  /** "/" or "/host". In the latter, the program runs by chroot. */
  readonly root: string;
  readonly at: HostOperation;
  /** Code of the HostError if the program fails. Its `words` are the end of what the program printed. */
  readonly failureCode: string;
  /** After this time the program and its children are killed, and the code is ETIMEDOUT. */
  readonly timeoutMs: number;
}

const maxWords = 500;

/** Returns the standard output. `command` contains no text that was not checked. Rejects with HostError; ENOENT without the program. */
export async function runHostProgram(
  { root, at, failureCode, timeoutMs }: HostProgramOptions,
  command: Command,
): Promise<string> {
  const end = await withHostError(at, () => runProgram(inRoot(root, command), { timeoutMs }));
  if (end === undefined)
    throw new HostError(at, "ETIMEDOUT", { words: `${command[0]} did not end within ${timeoutMs / 1000} s` });
  const { code, stdout, stderr } = end;
  if (code === 0) return stdout;
  const words = (stderr.trim() || stdout.trim()).slice(-maxWords);
  const isMissing = code === 127 && root !== "/"; // by chroot
  throw new HostError(at, isMissing ? "ENOENT" : failureCode, {
    words: words || `${command[0]} failed with exit code ${code ?? "none"}`,
  });
}
