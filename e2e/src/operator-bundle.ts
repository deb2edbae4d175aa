// SPDX-License-Identifier: Apache-2.0
/**
 * The operator in one file, as it is shipped: it starts quickly, and what is edited meanwhile does not show.
 * Usage: `const main = await bundleOperator(directory);`
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Builds it, and puts a copy into the directory; its path. Rejects where the sources do not build. */
export async function bundleOperator(directory: string): Promise<string> {
  const root = findWorkspaceRoot();
  const cwd = join(root, "apps/operator");
  await promisify(execFile)(process.execPath, [join(root, "tools/nx/bundle.js")], { cwd });
  const main = join(directory, "operator.mjs");
  await copyFile(join(root, "dist/apps/operator/main.js"), main);
  return main;
}
