// SPDX-License-Identifier: Apache-2.0
/**
 * runHostProgram runs a program of the host with fixed arguments, a clean environment and a time limit.
 * Usage: `const output = await runHostProgram({ root, at, failureCode: "GRUBBY_FAILED", timeoutMs }, ["grubby", "--info=ALL"]);`
 */
import { spawn } from "node:child_process";
import { isErrno } from "@switchyard/service";
import { HostError, toHostError, type HostOperation } from "../calls/host-error.ts";

export interface HostProgramOptions {
  /** "/" or "/host". In the latter, the program runs by chroot. */
  readonly root: string;
  readonly at: HostOperation;
  /** Code of the HostError if the program fails. Its `words` are the end of what the program printed. */
  readonly failureCode: string;
  /** After this time the program and its children are killed, and the code is ETIMEDOUT. */
  readonly timeoutMs: number;
}

/** A boot loader prints a few lines for each kernel. */
const maxOutputBytes = 1 << 20;
const maxWords = 500;

/** Returns the standard output. `command` contains no text that was not checked. Rejects with HostError; ENOENT without the program. */
export async function runHostProgram(
  { root, at, failureCode, timeoutMs }: HostProgramOptions,
  command: readonly [string, ...string[]],
): Promise<string> {
  const [program, ...args] = root === "/" ? command : (["chroot", root, ...command] as const);
  const child = spawn(program, args, {
    // The environment is not inherited: programs read options from it, and the loader reads library paths.
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a process group of its own: scripts have children, which would outlive the script
  });
  const output = { stdout: "", stderr: "" };
  const late = new AbortController();
  const limit = setTimeout(() => {
    late.abort();
    kill(child.pid);
    // A child that left the group keeps the pipes open.
    child.stdout.destroy();
    child.stderr.destroy();
  }, timeoutMs);
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      if (output[name].length < maxOutputBytes) output[name] += text;
    });
  }
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (late.signal.aborted)
      throw new HostError(at, "ETIMEDOUT", { words: `${command[0]} did not end within ${timeoutMs / 1000} s` });
    if (code === 0) return output.stdout;
    const words = (output.stderr.trim() || output.stdout.trim()).slice(-maxWords);
    const isMissing = code === 127 && root !== "/"; // by chroot
    throw new HostError(at, isMissing ? "ENOENT" : failureCode, {
      words: words || `${command[0]} failed with exit code ${code ?? "none"}`,
    });
  } catch (error) {
    throw isErrno(error) ? toHostError(at, error) : error;
  } finally {
    clearTimeout(limit);
  }
}

function kill(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error;
  }
}
