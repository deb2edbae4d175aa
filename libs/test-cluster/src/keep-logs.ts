// SPDX-License-Identifier: Apache-2.0
/**
 * keepLogs keeps the logs of a test cluster, which would be deleted with it, so that a failure of a test can be explained.
 * Usage: `await keepLogs("/tmp/switchyard-demo-x", "dist/test-logs/vm/smoke")`.
 */
import { cp, readdir } from "node:fs/promises";
import { basename, join } from "node:path";

/** Copies the files `*.log` of `directory` to a directory of the same name in `target`. Does nothing without `target`. */
export async function keepLogs(directory: string, target: string | undefined): Promise<void> {
  if (target === undefined || target === "") return;
  const logs = (await readdir(directory)).filter((name) => name.endsWith(".log"));
  for (const name of logs) await cp(join(directory, name), join(target, basename(directory), name));
}
