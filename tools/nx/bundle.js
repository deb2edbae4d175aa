// SPDX-License-Identifier: Apache-2.0
/** Bundles the app in the working directory into dist/<app>/main.js: one file, native packages left outside. */
import { build } from "esbuild";
import { join, relative } from "node:path";

const workspaceRoot = join(import.meta.dirname, "../..");
const outdir = join(workspaceRoot, "dist", relative(workspaceRoot, process.cwd()));

await build({
  entryPoints: ["src/main.ts"],
  outfile: join(outdir, "main.js"),
  bundle: true,
  minify: true,
  platform: "node",
  format: "esm",
  target: "node24",
  sourcemap: true,
  external: ["koffi"],
  // CommonJS dependencies call require(), which an ES module lacks.
  banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
  logLevel: "warning",
});
