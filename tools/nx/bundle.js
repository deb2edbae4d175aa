// SPDX-License-Identifier: Apache-2.0
/**
 * Bundles a program as it is shipped: main.js, and chunks for what it imports only when needed, such as
 * @kubernetes/client-node for kubeconfigs. Node reads and holds what is in a file even if it never runs
 * (docs/decisions/001-kubernetes-transport.md). Native packages are left outside. The directory can be copied.
 * `bundledDirectories` in the package.json of the project names directories that the program reads: they are copied beside it.
 * Usage: `node ../../tools/nx/bundle.js [ENTRY DIR]` in the project; without arguments src/main.ts and dist/<project>.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { build } from "esbuild";
import { builtinModules } from "./builtin-modules.js";
import { leanPackages } from "./lean-packages.js";
import { writeThirdParty } from "./third-party.js";

const workspaceRoot = join(import.meta.dirname, "../..");
const [entry = "src/main.ts", to = join(workspaceRoot, "dist", relative(workspaceRoot, process.cwd()))] =
  process.argv.slice(2);
const outdir = resolve(to);

const { metafile } = await build({
  entryPoints: { main: entry },
  outdir,
  bundle: true,
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  minify: true,
  platform: "node",
  format: "esm",
  target: "node24",
  sourcemap: true,
  plugins: [leanPackages, builtinModules],
  // CommonJS dependencies call require(), which an ES module lacks. Most chunks never do.
  banner: { js: 'const require=(id)=>process.getBuiltinModule("module").createRequire(import.meta.url)(id);' },
  logLevel: "warning",
  metafile: true,
});
writeFileSync(join(outdir, "package.json"), '{ "type": "module" }\n');
writeThirdParty(outdir, Object.keys(metafile.inputs));
for (const [name, from] of Object.entries(bundledDirectories())) {
  rmSync(join(outdir, name), { recursive: true, force: true });
  cpSync(from, join(outdir, name), { recursive: true });
}
removeOldChunks(new Set(Object.keys(metafile.outputs).map((file) => resolve(file))));

/** Paths of directories from the project, by their names beside main.js. */
function bundledDirectories() {
  const manifest = existsSync("package.json") ? JSON.parse(readFileSync("package.json", "utf8")) : {};
  return manifest.bundledDirectories ?? {};
}

/** Those of earlier builds: the name of a chunk changes with its content. */
function removeOldChunks(current) {
  const chunks = join(outdir, "chunks");
  const names = existsSync(chunks) ? readdirSync(chunks) : [];
  for (const file of names.map((name) => join(chunks, name))) if (!current.has(file)) rmSync(file, { force: true });
}
