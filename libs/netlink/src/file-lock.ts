// SPDX-License-Identifier: Apache-2.0
/**
 * The lock of an open file (flock(2)), which the kernel releases when the file is closed or its process is gone.
 * Usage: `const file = await fs.open(path, "r+"); if (tryFileLock(file.fd)) …`.
 */
import type { Libc } from "./libc.ts";
import { loadLibc } from "./native-libc.ts";
import { NetlinkError, checked } from "./netlink-error.ts";

/** Whether the lock is ours now; false while another open file has it. Throws NetlinkError (EBADF, ENOLCK). */
export function tryFileLock(fd: number, libc: Libc = loadLibc()): boolean {
  try {
    checked("lock the file", libc.flock(fd));
    return true;
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "EAGAIN") return false;
    throw error;
  }
}
