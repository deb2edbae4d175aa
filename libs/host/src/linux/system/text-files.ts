// SPDX-License-Identifier: Apache-2.0
import { isErrno } from "@switchyard/service";
import { closeSync, constants, fstatSync, open, promises as fs, read } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { largestTextBytes } from "../../ports/host-files.ts";

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

const openOnThread = promisify(open);

const readOnThread = promisify(read);

// O_NONBLOCK: opening a FIFO would block for ever.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * readTextFile reads a file of a disk by two calls on a thread, which wait for the disk: opening and reading. An open file has its
 * size in memory, and closing it after reading writes nothing. fs.promises.readFile needs five calls on a thread.
 * Returns undefined for what is no regular file or too large. Rejects with errors of Node, ELOOP for a link.
 */
export async function readTextFile(path: string): Promise<string | undefined> {
  const fd = await openOnThread(path, flags);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > largestTextBytes) return undefined;
    return (await readBytes(fd, stats.size)).toString("utf8");
  } finally {
    closeSync(fd);
  }
}

/** Returns fewer bytes if the file has become shorter. */
async function readBytes(fd: number, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  for (let length = 0; length < size;) {
    const { bytesRead } = await readOnThread(fd, bytes, length, size - length, length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
  }
  return bytes;
}
