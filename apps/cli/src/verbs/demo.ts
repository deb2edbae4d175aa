// SPDX-License-Identifier: Apache-2.0
/** `switchyard demo` starts `npm run demo` in a source checkout. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError, exitCodes } from "../terminal.ts";
import type { RunVerb } from "../verb.ts";

export const demo: RunVerb = async ({ operands }) => {
  const child = spawn(process.execPath, [findRunner(process.argv[1] ?? "."), "demo", ...operands], {
    stdio: "inherit",
  });
  // Ctrl-C also reaches the demo, which cleans up before it exits.
  process.on("SIGINT", ignore);
  const exit: readonly unknown[] = await once(child, "exit");
  process.off("SIGINT", ignore);
  return exit[0] === 0 ? exitCodes.done : exitCodes.no;
};

/** Finds the script that runs the commands of the workspace, in a parent directory of the program. */
function findRunner(program: string): string {
  let folder = dirname(realpathSync(program));
  for (;;) {
    const runner = join(folder, "tools/run/run.mjs");
    if (existsSync(runner)) return runner;
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  throw new CliError("unavailable", "the demo requires a source checkout, and this program is not in one");
}

function ignore(): void {
  // The demo decides when to exit.
}
