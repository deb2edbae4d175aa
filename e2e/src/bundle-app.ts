// SPDX-License-Identifier: Apache-2.0
/**
 * bundleApp bundles an app as `npm run build` does. A bundled program starts faster than its sources, uses as much memory
 * as in production, and does not change when the sources are edited during the test.
 */
import { findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { join } from "node:path";

/**
 * Bundles `app`, or another program of it, into a directory below `directory` and returns the path of main.js. Rejects if the bundler
 * fails.
 */
export async function bundleApp(app: `apps/${string}`, directory: string, entry = "src/main.ts"): Promise<string> {
  const root = findWorkspaceRoot();
  const outdir = join(directory, app);
  const cwd = join(root, app);
  await outputOf(process.execPath, [join(root, "tools/nx/bundle.js"), entry, outdir], { cwd });
  return join(outdir, "main.js");
}
