// SPDX-License-Identifier: Apache-2.0
/**
 * errnoName returns the names of Linux error numbers (errno.h).
 * Usage: `errnoName(16)`, which is "EBUSY".
 */
import { constants } from "node:os";

// Node knows only the portable errors. Drivers use more, even ENOTSUPP, which is not meant for user space.
const linuxOnly = { ESHUTDOWN: 108, EREMOTEIO: 121, ENOKEY: 126, ENOTSUPP: 524 };

// Added last, so that they win: 11 and 95 have two names each, and the kernel sources use these.
const preferred = { EAGAIN: constants.errno.EAGAIN, EOPNOTSUPP: constants.errno.EOPNOTSUPP };

const names = new Map(
  Object.entries({ ...constants.errno, ...linuxOnly })
    .concat(Object.entries(preferred))
    .map(([name, errno]) => [errno, name]),
);

/** Returns the name of a positive errno, or "E1234" for an unknown one. */
export function errnoName(errno: number): string {
  return names.get(errno) ?? `E${errno}`;
}
