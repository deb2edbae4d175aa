// SPDX-License-Identifier: Apache-2.0
/**
 * readTextFile reads a file of a disk by two calls on a thread, which wait for the disk: opening and reading. An open file has its
 * size in memory, and closing it after reading writes nothing. fs.promises.readFile needs five calls on a thread.
 * Usage: `const text = await readTextFile("/host/etc/sriov-operator/reboot.json");`
 */
import { closeSync, constants, fstatSync, open, read } from "node:fs";
import { promisify } from "node:util";
import { largestTextBytes } from "../ports/host-files.ts";

const openOnThread = promisify(open);
const readOnThread = promisify(read);

// O_NONBLOCK: opening a FIFO would block for ever.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Returns undefined for what is no regular file or too large. Rejects with errors of Node, ELOOP for a link. */
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
