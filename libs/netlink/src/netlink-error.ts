// SPDX-License-Identifier: Apache-2.0
/**
 * The one error of this lib: what was tried, and the kernel's answer.
 * Usage: `throw new NetlinkError("set mtu 9000 on eth0", "EINVAL", { words: "mtu greater than device maximum" })`.
 */
import { errnoName } from "./errno.ts";

/** "set mtu 9000 on eth0: EINVAL (mtu greater than device maximum)". Branch on `code` only. */
export class NetlinkError extends Error {
  override readonly name = "NetlinkError";
  readonly tried: string;
  /**
   * The errno's name, as the kernel answered. Three are ours: "malformed" for a message that breaks the format,
   * "ETIMEDOUT" for no answer in time, "ECANCELED" for a request on a socket that is disposed of.
   */
  readonly code: string;
  /** The kernel's own words (extended ack), where it gave any; for "malformed", what is wrong. */
  readonly words: string | undefined;

  constructor(tried: string, code: string, words?: string) {
    super(`${tried}: ${code}${words ? ` (${words})` : ""}`);
    this.tried = tried;
    this.code = code;
    this.words = words;
  }
}

/** The result of a system call; throws where it is a negative errno, as all functions of Libc give them. */
export function checked(tried: string, result: number): number {
  if (result < 0) throw new NetlinkError(tried, errnoName(-result));
  return result;
}

/** A message that breaks the format. */
export function malformed(what: string): NetlinkError {
  return new NetlinkError("read netlink message", "malformed", what);
}
