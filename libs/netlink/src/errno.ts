// SPDX-License-Identifier: Apache-2.0
/**
 * Names of Linux error numbers (errno.h). Usage: `errnoName(16)` is "EBUSY".
 */
import { constants } from "node:os";

// Node knows the portable ones. The kernel and its drivers use more; ENOTSUPP is not even for user space, and yet seen.
const linuxOnly = { ESHUTDOWN: 108, EREMOTEIO: 121, ENOKEY: 126, ENOTSUPP: 524 };

// Last one wins: 11 and 95 have two names each, and the kernel's own sources say EAGAIN and EOPNOTSUPP.
const preferred = { EAGAIN: constants.errno.EAGAIN, EOPNOTSUPP: constants.errno.EOPNOTSUPP };

const names = new Map(
  Object.entries({ ...constants.errno, ...linuxOnly })
    .concat(Object.entries(preferred))
    .map(([name, errno]) => [errno, name]),
);

/** The name of a positive errno; "E1234" for one without. */
export function errnoName(errno: number): string {
  return names.get(errno) ?? `E${errno}`;
}
