// SPDX-License-Identifier: Apache-2.0
/**
 * An app as it is shipped, main.js and its chunks: it starts quickly, its memory is that of production, and what is edited
 * meanwhile does not show.
 * Usage: `const main = await bundleApp("operator", directory);`
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Bundles `apps/<app>` into a directory below `directory`; the path of main.js. Rejects where the sources do not build. */
export async function bundleApp(app: "operator" | "device-plugin-config", directory: string): Promise<string> {
  const root = findWorkspaceRoot();
  const outdir = join(directory, app);
  const cwd = join(root, "apps", app);
  await promisify(execFile)(process.execPath, [join(root, "tools/nx/bundle.js"), "src/main.ts", outdir], { cwd });
  return join(outdir, "main.js");
}
