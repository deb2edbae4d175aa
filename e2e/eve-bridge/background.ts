// SPDX-License-Identifier: Apache-2.0
/**
 * startBackground starts a server for a test and waits until the server is ready. Disposing the result ends the server.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** A running program. */
export interface Background extends AsyncDisposable {
  readonly pid: number;
  /** Returns everything that the program has printed, on both outputs. */
  printed(): string;
  /** Resolves when the program has printed a line that `wanted` accepts. */
  line(wanted: (line: string) => boolean): Promise<string>;
  signal(name: NodeJS.Signals): void;
}

/** When the program counts as started: after it has printed this text, or as soon as the function returns true. */
export interface BackgroundOptions {
  readonly until: string | (() => boolean);
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a program. If the program ends before it is ready, rejects with its output. */
export async function startBackground(
  file: string,
  args: readonly string[],
  { until, env = process.env }: BackgroundOptions,
): Promise<Background> {
  const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  let wake: () => void = () => undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (more: string) => {
      text += more;
      wake();
    });
  }
  const exited = once(child, "exit").then(() => {
    wake();
  });

  const find = async (wanted: (line: string) => boolean): Promise<string> => {
    for (;;) {
      const found = text.split("\n").find(wanted);
      if (found !== undefined) return found;
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${file} ended: ${text}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  if (typeof until === "string") await find((line) => line.includes(until));
  else {
    while (!until()) {
      if (child.exitCode !== null) throw new Error(`${file} ended: ${text}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return {
    pid: child.pid ?? 0,
    printed: () => text,
    line: find,
    signal(name) {
      child.kill(name);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
