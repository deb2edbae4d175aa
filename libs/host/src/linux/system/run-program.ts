// SPDX-License-Identifier: Apache-2.0
/** runProgram runs a program with fixed arguments, a clean environment and a time limit. */
import { isErrno } from "@switchyard/service";
import { setTimeout as delay } from "node:timers/promises";
import { HostError, withHostError, type HostOperation } from "../../calls/host-error.ts";

/** A program and its arguments. They contain no text that was not checked. */
export type Command = readonly [string, ...string[]];

export interface ProgramEnd {
  /** Null if a signal ended the program. */
  readonly code: number | null;
  /** At most 1 MiB each. */
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly timeoutMs: number;
  /** Directories of programs, as in PATH; those of the system by default. */
  readonly path?: string;
  /** Further variables of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Text for the standard input, which is empty by default. */
  readonly input?: string;
  /** Ends the program as the time limit does. */
  readonly signal?: AbortSignal;
}

/** Directories of the programs of the system. */
export const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin";
const maxOutputBytes = 1 << 20;

/** A program in an uninterruptible sleep of the kernel ignores SIGKILL. It is not waited for. */
const killWaitMs = 1_000;

/** Returns the command as it runs below `root`: "/", or by chroot "/host". */
export function inRoot(root: string, command: Command): Command {
  return root === "/" ? command : ["chroot", root, ...command];
}

/**
 * Resolves with undefined if the program does not end in time, or before `signal` aborts; it is then killed with its children. Rejects
 * with the errno of the system call if the program cannot be started: ENOENT.
 */
export async function runProgram(
  [program, ...args]: Command,
  { timeoutMs, path = systemPath, env = {}, input, signal }: ProgramOptions,
): Promise<ProgramEnd | undefined> {
  const { spawn } = await import("node:child_process"); // most nodes need no programs
  const child = spawn(program, args, {
    // The environment is not inherited: programs read options from it, and the loader reads library paths.
    env: { ...env, PATH: path, LC_ALL: "C" },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true, // a process group of its own: scripts have children, which would outlive the script
  });
  child.stdin.on("error", () => undefined); // a program can end without reading its input
  child.stdin.end(input ?? "");
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      if (output[name].length < maxOutputBytes) output[name] += text;
    });
  }
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const ended = new AbortController();
  const tooLate = delay(timeoutMs, "late" as const, { signal: ended.signal }).catch(() => "late" as const);
  const end = (): void => {
    ended.abort();
  };
  if (signal?.aborted === true) end();
  else signal?.addEventListener("abort", end, { once: true });
  try {
    const code = await Promise.race([closed, tooLate]);
    if (code !== "late") return { code, ...output };
    kill(child.pid);
    // A child that left the group keeps the pipes open.
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
    const waited = new AbortController();
    await Promise.race([
      closed.catch(() => null),
      delay(killWaitMs, null, { signal: waited.signal }).catch(() => null),
    ]);
    waited.abort();
    return undefined;
  } finally {
    signal?.removeEventListener("abort", end);
    ended.abort();
  }
}

/** Runs a program of the host as runProgram does, whatever it answers. `root` is "/" or "/host". */
export function runBelowRoot(root: string, command: Command, options: ProgramOptions): Promise<ProgramEnd | undefined> {
  return runProgram(inRoot(root, command), options);
}

function kill(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error;
  }
}

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

/**
 * runHostProgram runs a program of the host and returns what it prints. Returns the standard output. `command` contains no text
 * that was not checked. Rejects with HostError; ENOENT without the program.
 */
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
