// SPDX-License-Identifier: Apache-2.0
/**
 * Udev by the files that systemd-udevd keeps under /run/udev (systemd 252-257), without a fork of udevadm:
 * `control` while it runs, `queue` while it has events in hand, `data/n<ifindex>` for each interface it has handled.
 * Usage: `createLinuxUdev("/host").settle({ timeoutMs: 60_000, signal })`.
 */
import { join } from "node:path";
import { attempts } from "../calls/operations.ts";
import { watchDirectory } from "./directory-watch.ts";
import { HostError, toHostError } from "../calls/host-error.ts";
import { exists, readAttribute, readLinkTarget, readNames } from "./read-sysfs.ts";
import type { Udev } from "../ports/udev.ts";

/** For the case that no event of the directory comes: not all mounts of /run pass them on. */
const recheckMs = 250;

/** udevd hears of a new interface within milliseconds; one that it has not taken by then, it was told to leave alone. */
const unheardMs = 2_000;

/** Udev of the tree at `root`: "/" or "/host". */
export function createLinuxUdev(root: string): Udev {
  const directory = join(root, "run/udev");

  async function settle({ timeoutMs, signal }: Parameters<Udev["settle"]>[0]): Promise<boolean> {
    const startedMs = performance.now();
    using changes = watchDirectory(directory); // before the first look, so that no change is missed
    while (await exists(join(directory, "control"))) {
      signal.throwIfAborted();
      const elapsedMs = performance.now() - startedMs;
      const isIdle = !(await exists(join(directory, "queue")));
      if (isIdle && (elapsedMs > unheardMs || (await hasHandledAll()))) return true;
      if (elapsedMs >= timeoutMs) return false;
      await changes.next(Math.min(recheckMs, timeoutMs - elapsedMs), signal);
    }
    return true;
  }

  // There is no queue either between the kernel's event and udevd's taking it.
  async function hasHandledAll(): Promise<boolean> {
    const interfaces = join(root, "sys/class/net");
    const handled = new Set(await readNames(join(directory, "data")));
    for (const name of (await readNames(interfaces)) ?? []) {
      const device = await readLinkTarget(join(interfaces, name));
      if (device === undefined || device.includes("/devices/virtual/")) continue; // containers' come and go all the time
      const index = await readAttribute(join(interfaces, name, "ifindex"));
      if (index !== undefined && !handled.has(`n${index}`)) return false;
    }
    return true;
  }

  return {
    async settle(options) {
      options.signal.throwIfAborted();
      const settled = await settle(options).catch((error: unknown) => {
        throw toHostError(attempts.udev.settle(options), error);
      });
      if (!settled) throw new HostError(attempts.udev.settle(options), "ETIMEDOUT", {});
    },
  };
}
