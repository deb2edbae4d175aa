// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run generate` writes the files that are generated from libs/api/src. `npm run generate -- --check`, for CI,
 * writes nothing, but prints the files that are stale and exits with status 1 if there are any.
 */
import { join } from "node:path";
import { findStale, generate, write } from "./outputs.ts";

const root = join(import.meta.dirname, "../../..");
const [mode, ...more] = process.argv.slice(2);
if ((mode !== undefined && mode !== "--check") || more.length > 0) {
  console.error("generate: usage: npm run generate [-- --check]");
  process.exit(64);
}

const outputs = generate(root);
const stale = findStale(root, outputs);
if (mode === "--check") {
  for (const path of stale) console.error(`stale: ${path}; update it with npm run generate`);
  process.exit(stale.length > 0 ? 1 : 0);
}
write(root, outputs);
console.log(stale.length > 0 ? stale.map((path) => `wrote ${path}`).join("\n") : "all files are up to date");
