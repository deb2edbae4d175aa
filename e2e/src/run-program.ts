// SPDX-License-Identifier: Apache-2.0
/**
 * runProgram runs a program to its end. It does not reject if the program fails.
 * Usage: `const { stdout, stderr } = await runProgram(kubectl, ["create", "-f", "-"], { input: JSON.stringify(object) })`.
 */
import { execFile } from "node:child_process";

/** The output of a program. */
export interface ProgramOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program with `input` as its stdin. Resolves when the program ends. */
export function runProgram(
  file: string,
  args: readonly string[],
  { input = "" }: { readonly input?: string } = {},
): Promise<ProgramOutput> {
  return new Promise((resolve) => {
    const running = execFile(file, args, { maxBuffer: 256 * 1024 * 1024 }, (_error, stdout, stderr) => {
      resolve({ stdout, stderr });
    });
    running.stdin?.on("error", () => undefined); // EPIPE: the program ended before it read all input
    running.stdin?.end(input);
  });
}
