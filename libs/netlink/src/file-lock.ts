// SPDX-License-Identifier: Apache-2.0
/**
 * tryFileLock takes the lock of an open file (flock(2)). The kernel releases it when the file is closed or the process ends.
 * Usage: `const isLocked = tryFileLock(file.fd)`.
 */
import type { Libc } from "./libc.ts";
import { loadLibc } from "./native-libc.ts";
import { NetlinkError, checked } from "./netlink-error.ts";

/** Returns true if this file has the lock now, false if another open file has it. Throws NetlinkError: EBADF, ENOLCK. */
export function tryFileLock(fd: number, libc: Libc = loadLibc()): boolean {
  try {
    checked("lock the file", libc.flock(fd));
    return true;
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "EAGAIN") return false;
    throw error;
  }
}
