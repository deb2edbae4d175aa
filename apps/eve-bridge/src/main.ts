// SPDX-License-Identifier: Apache-2.0
/**
 * The entry point: a CNI plugin when CNI_COMMAND is set, otherwise a command-line tool for the node's administrator.
 * Usage: `CNI_COMMAND=ADD … eve-bridge < conf.json`; `eve-bridge doctor`; `eve-bridge install --to /opt/cni/bin`.
 */
import { writeSync } from "node:fs";
import { errnoOf, errorObject, toCniError } from "./request/cni-error.ts";
import { newestVersion } from "./request/request.ts";
import { runPlugin } from "./plugin.ts";
import { readStdin } from "./process/stdin.ts";
import { createStopSignal, type StopSignal } from "./process/stop-signal.ts";

const stdinMs = 10_000;

void main();

async function main(): Promise<void> {
  // Exit explicitly: an open socket or timer must not keep the container runtime waiting.
  if ((process.env["CNI_COMMAND"] ?? "") === "") {
    const { runTool } = await import("./tool/tool.ts");
    process.exit(await runTool(process.argv.slice(2)));
  }
  process.once("uncaughtException", exitWithError);
  process.exit(
    await runPlugin({
      env: process.env,
      readStdin: () => readStdin(0, { timeoutMs: stdinMs }),
      print,
      stopSignal,
    }),
  );
}

/** Reports a bug in this program: the runtime gets an ordinary error object on stdout, stderr gets the stack. */
function exitWithError(error: unknown): void {
  console.error(error);
  print(`${JSON.stringify(errorObject(toCniError(error), newestVersion))}\n`);
  process.exit(1);
}

function print(text: string): void {
  writeWhole(1, text);
}

/** Some runtimes send SIGTERM to a plugin that takes too long before they kill it. */
function stopSignal(): StopSignal {
  const { signal, stop } = createStopSignal();
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  return signal;
}

/** Repeats the write, because a non-blocking pipe may accept only a part of the text, or nothing for a moment. */
function writeWhole(fd: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (errnoOf(error) !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
