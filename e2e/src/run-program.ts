// SPDX-License-Identifier: Apache-2.0
/** runProgram runs a program to its end. It does not reject if the program fails. */
import { findWorkspaceRoot } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

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

/**
 * bundleApp bundles an app as `npm run build` does. A bundled program starts faster than its sources, uses as much memory
 * as in production, and does not change when the sources are edited during the test.
 * Bundles `app` into a directory below `directory` and returns the path of main.js. Rejects if the bundler fails.
 */
export async function bundleApp(app: `apps/${string}`, directory: string): Promise<string> {
  const root = findWorkspaceRoot();
  const outdir = join(directory, app);
  const cwd = join(root, app);
  await promisify(execFile)(process.execPath, [join(root, "tools/nx/bundle.js"), "src/main.ts", outdir], { cwd });
  return join(outdir, "main.js");
}
