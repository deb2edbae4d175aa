// SPDX-License-Identifier: Apache-2.0
/**
 * The file that an installed launcher runs: starts the program in the same directory from V8's code cache. With the
 * functions of an ADD already compiled, an ADD takes 2 ms less (docs/decisions/010-eve-bridge-launcher.md). If the
 * cache is missing or this Node rejects it, the program still works.
 * Usage: `node start.cjs`; `node start.cjs --write-code-cache FILE` runs the program and then writes the cache.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";

const dir = dirname(process.argv[1] ?? "");
const program = join(dir, "eve-bridge.cjs");
const cache = join(dir, "eve-bridge.cache");

const cachedData = readCache();
const script = new Script(`(function (require) {${readFileSync(program, "utf8")}\n})`, {
  filename: program,
  ...(cachedData === undefined ? {} : { cachedData }),
});

const [option, file] = process.argv.slice(2);
if (option === "--write-code-cache" && file !== undefined) {
  process.once("exit", () => {
    writeFileSync(file, script.createCachedData());
  });
}

// The bundle requires only Node's built-in modules.
const run = script.runInThisContext() as (require: (name: string) => unknown) => void;
run((name) => process.getBuiltinModule(name));

/** Returns undefined if the cache cannot be read, whatever the reason: the program works without. */
function readCache(): Buffer | undefined {
  try {
    return readFileSync(cache);
  } catch {
    return undefined;
  }
}
