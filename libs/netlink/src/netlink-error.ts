// SPDX-License-Identifier: Apache-2.0
/**
 * NetlinkError is the error class of this library. It has the operation and the kernel's response.
 * Usage: `throw new NetlinkError("set mtu 9000 on eth0", "EINVAL", "mtu greater than device maximum")`.
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

/** "set mtu 9000 on eth0: EINVAL (mtu greater than device maximum)". Branch on `code`, never on the message. */
export class NetlinkError extends Error {
  override readonly name = "NetlinkError";
  readonly tried: string;
  /**
   * Name of the kernel's errno. Three codes come from this library: "malformed" for a message in the wrong format,
   * "ETIMEDOUT" for no response in time, and "ECANCELED" for a request on a disposed socket.
   */
  readonly code: string;
  /** Message of the kernel (extended ack), if it sent one; for "malformed", the problem. */
  readonly words: string | undefined;

  constructor(tried: string, code: string, words?: string) {
    super(`${tried}: ${code}${words ? ` (${words})` : ""}`);
    this.tried = tried;
    this.code = code;
    this.words = words;
  }
}

/** Returns the result of a Libc function, or throws NetlinkError if it is a negative errno. */
export function checked(tried: string, result: number): number {
  if (result < 0) throw new NetlinkError(tried, errnoName(-result));
  return result;
}

/** Returns the error for a message in the wrong format. */
export function malformed(what: string): NetlinkError {
  return new NetlinkError("read netlink message", "malformed", what);
}

/**
 * errnoName returns the names of Linux error numbers (errno.h).
 * Returns the name of a positive errno, or "E1234" for an unknown one.
 */
export function errnoName(errno: number): string {
  return names.get(errno) ?? `E${errno}`;
}
