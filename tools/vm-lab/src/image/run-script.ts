// SPDX-License-Identifier: Apache-2.0
/** runScript runs a shell script of the build and includes its output in the error. */
import { runProgram } from "@switchyard/testing";
import { basename } from "node:path";
import { VmLabError } from "../vm-lab-error.ts";

/** Lines of output in the error of a failed script. */
const shownLines = 30;

/** Returns the trimmed stdout of the script. `env` is added to the environment. Rejects with VmLabError `build-failed`. */
export async function runScript(
  script: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { status, stdout, stderr } = await runProgram("sh", [script, ...args], { env });
  if (status === "0") return stdout.trim();
  const output = `${stdout}${stderr}`.trimEnd().split("\n").slice(-shownLines).join("\n");
  throw new VmLabError("build-failed", `${basename(script)} failed (${status}):`, { output });
}
