// SPDX-License-Identifier: Apache-2.0
/**
 * runProgram runs a program to its end. It does not reject if the program fails.
 * Usage: `const { stdout, stderr } = await runProgram(kubectl, ["create", "-f", "-"], { input: JSON.stringify(object) })`.
 */
import { execFile } from "node:child_process";

export interface ProgramOutput {
  readonly stdout: string;
  readonly stderr: string;
}

export function runProgram(
  file: string,
  args: readonly string[],
  { input = "" }: { readonly input?: string } = {},
): Promise<ProgramOutput> {
  return new Promise((resolve) => {
    const running = execFile(file, args, { maxBuffer: 256 * 1024 * 1024 }, (_error, stdout, stderr) => {
      resolve({ stdout, stderr });
    });
    running.stdin?.on("error", () => undefined); // EPIPE: it ended without reading all
    running.stdin?.end(input);
  });
}
