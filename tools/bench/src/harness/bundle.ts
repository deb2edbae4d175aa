// SPDX-License-Identifier: Apache-2.0
/**
 * Programs as they are shipped, by tools/nx/bundle.js. Run from its sources, Node would hold a compiler in memory, too.
 * Usage: `await buildApp("operator")` makes dist/apps/operator/main.js and its chunks
 */
import { findWorkspaceRoot } from "@switchyard/testing";
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
 * Bundles a program of ours that is no app, and returns its path: below the workspace, so that it finds its native
 * packages. `entry` is relative to the workspace.
 */
export async function bundleProgram(entry: string): Promise<string> {
  const root = findWorkspaceRoot();
  const outdir = join(root, "dist/bench", entry.replace(/\.ts$/, "").replaceAll("/", "-"));
  await promisify(execFile)(process.execPath, [join(root, "tools/nx/bundle.js"), entry, outdir], { cwd: root });
  return join(outdir, "main.js");
}
