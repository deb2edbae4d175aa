// SPDX-License-Identifier: Apache-2.0
/**
 * makeDirectory creates a directory and those above it, and reports what the kernel answers. `recursive` of Node rejects with ENOENT
 * on a read-only file system (seen with Node 24), so nobody finds the cause.
 * Usage: `await makeDirectory("/host/etc/sriov-operator/pci");`
 */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isErrno } from "./errors.ts";

/** Does nothing if the directory exists. `mode` is that of each directory that is created. Rejects with errors of Node. */
export async function makeDirectory(path: string, mode = 0o755): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (isErrno(error, "EEXIST") && (await stat(path)).isDirectory()) return;
    if (!isErrno(error, "ENOENT") || dirname(path) === path) throw error;
    await makeDirectory(dirname(path), mode);
    await mkdir(path, { mode }).catch((second: unknown) => {
      if (!isErrno(second, "EEXIST")) throw second; // another process was faster
    });
  }
}
