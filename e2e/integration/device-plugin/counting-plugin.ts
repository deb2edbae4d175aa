// SPDX-License-Identifier: Apache-2.0
/** A process with the name of a device plugin that counts the signals it gets, and lives on. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The fake plugin. Disposing it kills the process. */
export interface CountingPlugin extends AsyncDisposable {
  /** The value for --plugin-process. No other process on this machine has this name. */
  readonly name: string;
  /** How many signals the process has received. */
  signals(): number;
}

// A trapped signal interrupts `read`, so the loop starts it again.
const script = `#!/bin/sh
trap 'echo signal' TERM HUP INT QUIT
echo started
while :; do read -r forever; done
`;

/** Starts the process. Its program is written to `directory`. */
export async function startCountingPlugin(directory: string): Promise<CountingPlugin> {
  const name = `dp-${process.pid}`;
  const file = join(directory, name);
  await writeFile(file, script);
  await chmod(file, 0o755);
  const child = spawn(file, { stdio: ["pipe", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  await once(child.stdout, "data");
  return {
    name,
    signals: () => output.split("signal\n").length - 1,
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
