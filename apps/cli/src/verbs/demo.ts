// SPDX-License-Identifier: Apache-2.0
/** `switchyard demo`: what `npm run demo` starts, from a checkout of the sources. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import type { RunVerb } from "../verb.ts";

export const demo: RunVerb = async ({ operands }) => {
  const child = spawn(process.execPath, [findRunner(process.argv[1] ?? "."), "demo", ...operands], {
    stdio: "inherit",
  });
  // Ctrl-C reaches the demo too, which cleans up; it is waited for.
  process.on("SIGINT", ignore);
  const exit: readonly unknown[] = await once(child, "exit");
  process.off("SIGINT", ignore);
  return exit[0] === 0 ? exitCodes.done : exitCodes.no;
};

/** The way into the workspace's commands, from somewhere in it. */
function findRunner(program: string): string {
  let folder = dirname(realpathSync(program));
  for (;;) {
    const runner = join(folder, "tools/run/run.mjs");
    if (existsSync(runner)) return runner;
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  throw new CliError("unavailable", "the demo needs a checkout of the sources, and this program is not in one");
}

function ignore(): void {
  // The child decides.
}
