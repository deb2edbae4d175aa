// SPDX-License-Identifier: Apache-2.0
/** runScript runs a shell script of the build and includes its output in the error. */
import { spawn } from "node:child_process";
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
  const child = spawn("sh", [script, ...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let stdout = "";
  let all = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    all += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (all += text));
  const status = await new Promise<string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      resolve(signal ?? String(code));
    });
  });
  if (status !== "0") {
    const output = all.trimEnd().split("\n").slice(-shownLines).join("\n");
    throw new VmLabError("build-failed", `${basename(script)} failed (${status}):`, { output });
  }
  return stdout.trim();
}
