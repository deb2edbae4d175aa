// SPDX-License-Identifier: Apache-2.0
import { promises as fs } from "node:fs";
import { isErrno } from "../calls/host-error.ts";

/** Makes what was created, renamed or removed in the directory survive a crash. */
export async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await fs.open(path, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  } catch (error) {
    if (!(isErrno(error) && error.code === "ENOENT")) throw error; // no directory, nothing in it
  }
}
