// SPDX-License-Identifier: Apache-2.0
/**
 * Bundles the plugin as CommonJS, because a container runtime starts it for each interface of each pod and Node starts a
 * CommonJS file 3 ms faster than an ES module (docs/decisions/010-eve-bridge-launcher.md). eve-bridge.cjs is the program,
 * start.cjs is the file that an installed launcher runs.
 * Usage: `node bundle.js [DIR]`; DIR defaults to dist/apps/eve-bridge.
 */
import { build } from "esbuild";
import { join } from "node:path";

await build({
  entryPoints: {
    "eve-bridge": join(import.meta.dirname, "src/main.ts"),
    start: join(import.meta.dirname, "src/start.ts"),
  },
  outdir: process.argv[2] ?? join(import.meta.dirname, "../../dist/apps/eve-bridge"),
  outExtension: { ".js": ".cjs" },
  bundle: true,
  minify: true,
  platform: "node",
  format: "cjs",
  target: "node24",
  logLevel: "warning",
});
