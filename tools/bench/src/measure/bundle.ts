// SPDX-License-Identifier: Apache-2.0
/**
 * Programs as they are shipped: one minified file. Run from its sources, Node would hold a compiler in memory, too.
 * Usage: `await buildApp("operator")` makes dist/apps/operator/main.js
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { build } from "esbuild";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Makes an app's bundle if it is not fresh, and returns its path. */
export async function buildApp(app: "operator" | "config-daemon" | "webhook"): Promise<string> {
  const root = findWorkspaceRoot();
  const nx = join(root, "node_modules/.bin/nx");
  await promisify(execFile)(nx, ["run", `@switchyard/${app}:build`], {
    cwd: root,
    env: { ...process.env, NX_DAEMON: "false" },
  });
  return join(root, `dist/apps/${app}/main.js`);
}

/**
 * Bundles a program of ours that is no app, in the way of tools/nx/bundle.js, and returns its path: below the workspace,
 * so that it finds its native packages. `entry` is relative to the workspace.
 */
export async function bundleProgram(entry: string): Promise<string> {
  const root = findWorkspaceRoot();
  const outfile = join(root, "dist/bench", entry.replace(/\.ts$/, ".mjs").replaceAll("/", "-"));
  await build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node24",
    external: ["koffi"],
    banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
    logLevel: "warning",
  });
  return outfile;
}
