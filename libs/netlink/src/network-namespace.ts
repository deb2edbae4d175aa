// SPDX-License-Identifier: Apache-2.0
/**
 * Sockets in other network namespaces. Usage: `inNetworkNamespace(libc, "/run/netns/blue", () => libc.socket(0))`.
 */
import { closeSync, openSync } from "node:fs";
import type { Libc } from "./libc.ts";
import { checked, NetlinkError } from "./netlink-error.ts";

/**
 * Runs `act` with this thread in the namespace at `path`; where that is undefined, in its own. A socket stays for ever in the
 * namespace it was made in. `act` must be synchronous: the event loop must never see the other namespace.
 * Throws NetlinkError: ENOENT, EPERM, EINVAL for a file that is no network namespace.
 */
export function inNetworkNamespace<Result>(libc: Libc, path: string | undefined, act: () => Result): Result {
  if (path === undefined) return act();
  const home = open("/proc/thread-self/ns/net");
  try {
    enter(libc, path);
    try {
      return act();
    } finally {
      // Refused only if the privilege that allowed the way in is gone. Nothing sensible can be done in the wrong namespace.
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
    const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
    if (typeof code !== "string") throw cause;
    throw new NetlinkError(`open network namespace ${path}`, code);
  }
}
