// SPDX-License-Identifier: Apache-2.0
/**
 * runProgram runs a program to its end and returns its output.
 * Usage: `await runProgram("tar", ["-xf", archive, "-C", directory]);`
 */
import { spawn } from "node:child_process";

export class ImagesError extends Error {
  override readonly name = "ImagesError";
  readonly code: ImagesErrorCode;

  constructor(code: ImagesErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * ImagesError is the only error class of this tool. Its message says what to do. Branch on `code` only.
 * The cause of the error.
 */
type ImagesErrorCode =
  /** An option or argument is invalid. */
  | "bad-option"
  /** A program or a right is missing on this machine. */
  | "missing-requirement"
  /** A package cannot be downloaded, or is not the one in the lock file. */
  | "package-unavailable"
  /** A program failed. */
  | "program-failed"
  /** The content of an image is not as expected. */
  | "unexpected-content";

/** Lines of output in the error of a failed program. */
const shownLines = 20;

/** Returns the trimmed standard output. Rejects with ImagesError `program-failed` and the end of what the program printed. */
export async function runProgram(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let all = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    all += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (all += text));
  const status = await new Promise<string>((resolve, reject) => {
    child.on("error", (cause) => {
      reject(new ImagesError("program-failed", `cannot start ${program}: ${cause.message}`, cause));
    });
    child.on("close", (code, signal) => {
      resolve(signal ?? String(code));
    });
  });
  if (status === "0") return stdout.trim();
  const end = all.trimEnd().split("\n").slice(-shownLines).join("\n  | ");
  throw new ImagesError("program-failed", `${program} ${args.join(" ")} failed (${status}):\n  | ${end}`);
}
