// SPDX-License-Identifier: Apache-2.0
/**
 * The first file of an installed version: runs the program beside it from V8's code cache. With the functions of an ADD
 * already compiled, an ADD takes 2 ms less (docs/decisions/010-eve-bridge-launcher.md). A cache that is missing, or that
 * this Node does not accept, only costs that time.
 * Usage: `node start.cjs`; `node start.cjs --write-code-cache FILE` runs the same and then writes the cache.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";

const dir = dirname(process.argv[1] ?? "");
const program = join(dir, "eve-bridge.cjs");
const cache = join(dir, "eve-bridge.cache");

const script = new Script(`(function (require) {${readFileSync(program, "utf8")}\n})`, {
  filename: program,
  ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
});

const [option, file] = process.argv.slice(2);
if (option === "--write-code-cache" && file !== undefined) {
  process.once("exit", () => {
    writeFileSync(file, script.createCachedData());
  });
}

// The bundle asks for nothing but modules of Node.
const run = script.runInThisContext() as (require: (name: string) => unknown) => void;
run((name) => process.getBuiltinModule(name));
