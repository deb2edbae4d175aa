// SPDX-License-Identifier: Apache-2.0
import { promises as fs } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncDirectory } from "./sync-directory.ts";

/**
 * Replaces the file atomically: after a crash it has either its old text or its new text. A link at the path is replaced, and
 * its target is not changed.
 */
export async function replaceFile(path: string, text: string, mode = 0o644): Promise<void> {
  const beside = join(dirname(path), `.${basename(path)}.new`);
  try {
    await fs.rm(beside, { force: true }); // left by a process that was killed
    const file = await fs.open(beside, "wx", mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(beside, path);
  } catch (error) {
    await fs.rm(beside, { force: true }).catch(() => undefined); // the first error is reported
    throw error;
  }
  await syncDirectory(dirname(path));
}
