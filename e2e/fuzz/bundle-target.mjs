// SPDX-License-Identifier: Apache-2.0
/**
 * Bundles the targets of one file with counters in all sources of apps and libs, for a worker of a fuzz run.
 * Usage: `node bundle-target.mjs FILE OUTFILE`, from the root of the workspace. FILE is a path from there.
 * Beside the bundle, OUTFILE.words.json has the texts in the sources, which are a dictionary for mutations.
 */
import { build, transform } from "esbuild";
import { createInstrumenter } from "istanbul-lib-instrument";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";

const [file, outfile] = process.argv.slice(2);
const root = process.cwd();
const words = new Set();

/** Sources without counters: what drives the run, tests, and tables. */
const plain = /^(?:e2e|libs\/testing)\/|\.fuzz\.ts$|\.gen\.ts$|\/testing\//;
const longestWord = 32;

const counters = {
  name: "counters",
  setup({ onLoad, onResolve }) {
    // Packages of others are loaded from node_modules, without counters.
    onResolve({ filter: /^[^./]/ }, ({ path }) => (path.startsWith("@switchyard/") ? undefined : { external: true }));
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const name = relative(root, path);
      if (plain.test(name) && !name.endsWith("toy-parsers.fuzz.ts")) return undefined;
      for (const [, text = ""] of source.matchAll(/["'`]([^"'`\n]{2,})["'`]/g)) {
        if (text.length <= longestWord && !text.includes("${")) words.add(text);
      }
      const { code } = await transform(source, { loader: "ts", target: "node24" });
      const instrumenter = createInstrumenter({ esModules: true, compact: false });
      return { contents: instrumenter.instrumentSync(code, name), loader: "js" };
    });
  },
};

await build({
  stdin: {
    contents: `import { serveWorker } from "./e2e/fuzz/worker.ts"; import { targets } from "./${file}"; await serveWorker(targets);`,
    resolveDir: root,
    loader: "ts",
  },
  outfile: join(root, outfile),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  logLevel: "error",
  plugins: [counters],
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
});
await writeFile(`${join(root, outfile)}.words.json`, JSON.stringify([...words]));
