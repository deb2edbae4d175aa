// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxUdev implements Udev with the files of systemd-udevd in /run/udev (systemd 252-257), without a fork of udevadm:
 * `control` exists while it runs, `queue` while it handles events, and `data/n<ifindex>` for each interface that it has handled.
 * Usage: `createLinuxUdev("/host").settle({ timeoutMs: 60_000, signal })`.
 */
import { join } from "node:path";
import { operations } from "../calls/operations.ts";
import { watchDirectory } from "./directory-watch.ts";
import { HostError, toHostError } from "../calls/host-error.ts";
import { exists, readAttribute, readLinkTarget, readNames } from "./read-sysfs.ts";
import type { Udev } from "../ports/udev.ts";

/** Not all mounts of /run deliver inotify events, so the files are also checked periodically. */
const recheckMs = 250;

/** udevd receives a new interface within milliseconds. An interface without data after this time is ignored by its rules. */
const maxUnhandledMs = 2_000;

/** `root` is "/" or "/host". */
export function createLinuxUdev(root: string): Udev {
  const directory = join(root, "run/udev");

  async function settle({ timeoutMs, signal }: Parameters<Udev["settle"]>[0]): Promise<boolean> {
    const startedMs = performance.now();
    using changes = watchDirectory(directory); // before the first check, so that no change is missed
    while (await exists(join(directory, "control"))) {
      signal.throwIfAborted();
      const elapsedMs = performance.now() - startedMs;
      const isIdle = !(await exists(join(directory, "queue")));
      if (isIdle && (elapsedMs > maxUnhandledMs || (await hasHandledAll()))) return true;
      if (elapsedMs >= timeoutMs) return false;
      await changes.next(Math.min(recheckMs, timeoutMs - elapsedMs), signal);
    }
    return true;
  }

  // Between the event of the kernel and its arrival at udevd, the queue does not exist either.
  async function hasHandledAll(): Promise<boolean> {
    const interfaces = join(root, "sys/class/net");
    const handled = new Set(await readNames(join(directory, "data")));
    for (const name of (await readNames(interfaces)) ?? []) {
      const device = await readLinkTarget(join(interfaces, name));
      if (device === undefined || device.includes("/devices/virtual/")) continue; // containers create and remove them all the time
      const index = await readAttribute(join(interfaces, name, "ifindex"));
      if (index !== undefined && !handled.has(`n${index}`)) return false;
    }
    return true;
  }

  return {
    async settle(options) {
      options.signal.throwIfAborted();
      const settled = await settle(options).catch((error: unknown) => {
        throw toHostError(operations.udev.settle(options), error);
      });
      if (!settled) throw new HostError(operations.udev.settle(options), "ETIMEDOUT", {});
    },
  };
}
