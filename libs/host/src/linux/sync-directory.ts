// SPDX-License-Identifier: Apache-2.0
import { promises as fs } from "node:fs";
import { isErrno } from "@switchyard/service";

/** Writes the entries of the directory to the disk, so that created, renamed and removed files survive a crash. */
export async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await fs.open(path, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error; // a directory that does not exist has no entries
  }
}
