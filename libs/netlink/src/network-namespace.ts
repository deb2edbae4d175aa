// SPDX-License-Identifier: Apache-2.0
/** inNetworkNamespace opens sockets in another network namespace. */
import { closeSync, openSync } from "node:fs";
import { isErrno } from "@switchyard/service";
import type { Libc } from "./libc.ts";
import { checked, NetlinkError } from "./netlink-error.ts";

/**
 * Runs `act` with this thread in the network namespace at `path`, or in its own one if `path` is undefined. A socket stays
 * in the namespace in which it was opened. `act` must be synchronous, so that no other code runs in the other namespace.
 * Throws NetlinkError: ENOENT, EPERM, or EINVAL if the file is not a network namespace.
 */
export function inNetworkNamespace<Result>(libc: Libc, path: string | undefined, act: () => Result): Result {
  if (path === undefined) return act();
  const home = open("/proc/thread-self/ns/net");
  try {
    enter(libc, path);
    try {
      return act();
    } finally {
      // Fails only if the process has lost its privilege since the call above. It cannot continue in the wrong namespace.
      checked("return to own network namespace", libc.setns(home));
    }
  } finally {
    closeSync(home);
  }
}

function enter(libc: Libc, path: string): void {
  const target = open(path);
  try {
    checked(`enter network namespace ${path}`, libc.setns(target));
  } finally {
    closeSync(target);
  }
}

function open(path: string): number {
  try {
    return openSync(path, "r");
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    throw new NetlinkError(`open network namespace ${path}`, cause.code);
  }
}
