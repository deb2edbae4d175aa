// SPDX-License-Identifier: Apache-2.0
/** runCommand runs a program and kills it, with its children, at a time limit or a stop signal. */
import { spawn } from "node:child_process";
import { CniError, cniCode } from "../request/cni-error.ts";
import type { Wait } from "./deadline.ts";
import { stoppedError } from "./stop-signal.ts";

/** How to run a program. */
export interface CommandOptions extends Wait {
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
}

/** How a program ended. */
export interface CommandOutcome {
  /** The exit status; null when a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Far more than any plugin prints. */
const maxOutputBytes = 4 * 1024 * 1024;

/**
 * Throws code 11 on a timeout or a stop signal, 102 on too much output, the system's error when the program cannot
 * start.
 */
export function runCommand(file: string, args: readonly string[], options: CommandOptions): Promise<CommandOutcome> {
  const { env, stdin = "", timeoutMs, signal } = options;
  if (signal?.stopped === true) return Promise.reject(stoppedError());

  return new Promise((resolve, reject) => {
    // A process group of its own, so that the programs that a plugin starts are killed with it.
    const child = spawn(file, args, { env, stdio: "pipe", detached: true });
    let failure: Error | undefined;
    const give = (error: Error) => {
      failure ??= error;
      killGroup(child.pid);
    };
    const timer = setTimeout(() => {
      give(new CniError(cniCode.tryAgain, `${file} did not end within ${timeoutMs} ms`));
    }, timeoutMs);
    const stop = () => {
      give(stoppedError());
    };
    const forget = signal?.onStop(stop);

    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let bytes = 0;
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxOutputBytes)
          give(new CniError(cniCode.delegate, `${file} printed more than ${maxOutputBytes} bytes`));
        else output[name].push(chunk);
      });
    }
    child.stdin.on("error", () => undefined); // a program need not read its stdin
    child.stdin.end(stdin);

    const settle = (finish: () => void) => {
      clearTimeout(timer);
      forget?.();
      finish();
    };
    child.on("error", (error) => {
      settle(() => {
        reject(error);
      });
    });
    child.on("close", (status) => {
      settle(() => {
        if (failure !== undefined) reject(failure);
        else resolve({ status, stdout: textOf(output.stdout), stderr: textOf(output.stderr) });
      });
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString("utf8");
}
