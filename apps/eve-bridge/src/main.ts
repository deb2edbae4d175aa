// SPDX-License-Identifier: Apache-2.0
/**
 * The program: a CNI plugin when a runtime starts it, else a tool for the node's administrator.
 * Usage: `CNI_COMMAND=ADD … eve-bridge < conf.json`; `eve-bridge doctor`; `eve-bridge install --to /opt/cni/bin`.
 */
import { writeSync } from "node:fs";
import { errnoOf, errorObject, toCniError } from "./request/cni-error.ts";
import { newestVersion } from "./request/cni-version.ts";
import { runPlugin } from "./plugin.ts";
import { readStdin } from "./request/stdin.ts";
import { createStopSignal, type StopSignal } from "./process/stop-signal.ts";

const stdinMs = 10_000;

void main();

async function main(): Promise<void> {
  // Exit at once: an open socket or timer must not keep the runtime waiting.
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

/** Our bug: the runtime gets an error object like any other, whoever reads stderr the stack. */
function exitWithError(error: unknown): void {
  console.error(error);
  print(`${JSON.stringify(errorObject(toCniError(error), newestVersion))}\n`);
  process.exit(1);
}

function print(text: string): void {
  writeWhole(1, text);
}

/** Runtimes that lose patience say so first, some of them. */
function stopSignal(): StopSignal {
  const { signal, stop } = createStopSignal();
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  return signal;
}

/** A pipe that somebody made non-blocking takes part of it, or nothing for a moment. */
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
