// SPDX-License-Identifier: Apache-2.0
/**
 * Bundles programs with tools/nx/bundle.js, as they are shipped. If Node ran the TypeScript sources, its compiler would
 * count as memory of the program.
 * Usage: `await buildApp("operator")`
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Builds dist/apps/<app>/main.js and its chunks, unless they are up to date, and returns the path of main.js. */
export async function buildApp(app: "operator" | "config-daemon" | "webhook" | "ovn-offload"): Promise<string> {
  const root = findWorkspaceRoot();
  const nx = join(root, "node_modules/.bin/nx");
  await promisify(execFile)(nx, ["run", `@switchyard/${app}:build`], {
    cwd: root,
    env: { ...process.env, NX_DAEMON: "false" },
  });
  return join(root, `dist/apps/${app}/main.js`);
}

/**
 * Bundles a program that is not an app, and returns the path of main.js. That is below the workspace, so that the program
 * finds its native packages. `entry` is relative to the workspace.
 */
export async function bundleProgram(entry: string): Promise<string> {
  const root = findWorkspaceRoot();
  const outdir = join(root, "dist/bench", entry.replace(/\.ts$/, "").replaceAll("/", "-"));
  await promisify(execFile)(process.execPath, [join(root, "tools/nx/bundle.js"), entry, outdir], { cwd: root });
  return join(outdir, "main.js");
}
