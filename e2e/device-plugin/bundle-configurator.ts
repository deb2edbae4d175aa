// SPDX-License-Identifier: Apache-2.0
/**
 * device-plugin-config in one file, as it is shipped: its memory is nothing like that of the sources.
 * Usage: `const main = await bundleConfigurator(directory);`
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Builds it, and puts a copy into the directory; its path. Rejects where the sources do not build. */
export async function bundleConfigurator(directory: string): Promise<string> {
  const root = findWorkspaceRoot();
  const cwd = join(root, "apps/device-plugin-config");
  await promisify(execFile)(process.execPath, [join(root, "tools/nx/bundle.js")], { cwd });
  const main = join(directory, "device-plugin-config.mjs");
  await copyFile(join(root, "dist/apps/device-plugin-config/main.js"), main);
  return main;
}
