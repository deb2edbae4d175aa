// SPDX-License-Identifier: Apache-2.0
/**
 * Servers that a test starts: known to be up when they have said so, gone when disposed of.
 * Usage: `await using daemon = await startBackground("dnsmasq", […], { until: "started" })`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** A running program. */
export interface Background extends AsyncDisposable {
  readonly pid: number;
  /** All that it has printed, on both outputs. */
  printed(): string;
  /** Resolves when it has printed a line that `wanted` accepts. */
  line(wanted: (line: string) => boolean): Promise<string>;
  signal(name: NodeJS.Signals): void;
}

/** When it counts as started: when it has printed this text, or when this is so. */
export interface BackgroundOptions {
  readonly until: string | (() => boolean);
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a program. Throws what it printed when it ends before it is up. */
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
