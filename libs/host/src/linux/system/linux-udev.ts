// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxUdev implements Udev with the files of systemd-udevd in /run/udev (systemd 252-257), without a fork of
 * udevadm. `control` is its socket and exists while it runs, `queue` exists while it handles events, and
 * `data/n<ifindex>` for each interface that it has handled.
 */
import type { PciAddress } from "@switchyard/api";
import { NetlinkError, sendSeqpackets } from "@switchyard/netlink";
import { join } from "node:path";
import { operations } from "../../calls/operations.ts";
import { watchDirectory } from "./directory-watch.ts";
import { askKernel } from "./ask-kernel.ts";
import { HostError, toHostError } from "../../calls/host-error.ts";
import { readPf } from "./read-pci-functions.ts";
import { exists, readAttribute, readLinkTarget, readNames } from "./read-sysfs.ts";
import type { SettleOptions, Udev } from "../../ports/system-services.ts";

/** Not all mounts of /run deliver inotify events, so the files are also checked periodically. */
const recheckMs = 250;

/** udevd receives a new interface within milliseconds. An interface without data after this time is ignored by its rules. */
const maxUnhandledMs = 2_000;

/** `root` is "/" or "/host". */
export function createLinuxUdev(root: string): Udev {
  const directory = join(root, "run/udev");

  async function settle({ timeoutMs, signal, pf }: SettleOptions): Promise<boolean> {
    const startedMs = performance.now();
    using changes = watchDirectory(directory); // before the first check, so that no change is missed
    while (exists(join(directory, "control"))) {
      signal.throwIfAborted();
      const elapsedMs = performance.now() - startedMs;
      const isIdle = !exists(join(directory, "queue"));
      if (isIdle && (elapsedMs > maxUnhandledMs || hasHandledAll())) return true;
      if (pf !== undefined && (await hasHandledPf(pf))) return true;
      if (elapsedMs >= timeoutMs) return false;
      await changes.next(Math.min(recheckMs, timeoutMs - elapsedMs), signal);
    }
    return true;
  }

  // udevd stores the data of an interface after it has named it, and before it runs programs of rules.
  async function hasHandledPf(pf: PciAddress): Promise<boolean> {
    const facts = await readPf(join(root, "sys/bus/pci/devices"), pf);
    if (facts === undefined) return false;
    const vfs = facts.sriov?.vfs ?? [];
    if (vfs.length !== (facts.sriov?.numVfs ?? 0) || vfs.some(({ netdevs }) => netdevs.length === 0)) return false;
    const handled = new Set(readNames(join(directory, "data")));
    for (const name of [facts, ...vfs].flatMap(({ netdevs }) => netdevs)) {
      const index = readAttribute(join(root, "sys/class/net", name, "ifindex"));
      if (index === undefined || !handled.has(`n${index}`)) return false; // undefined: renamed meanwhile
    }
    return true;
  }

  // Between the event of the kernel and its arrival at udevd, the queue does not exist either.
  function hasHandledAll(): boolean {
    const interfaces = join(root, "sys/class/net");
    const handled = new Set(readNames(join(directory, "data")));
    for (const name of readNames(interfaces) ?? []) {
      const device = readLinkTarget(join(interfaces, name));
      if (device === undefined || device.includes("/devices/virtual/")) continue; // containers create and remove them all the time
      const index = readAttribute(join(interfaces, name, "ifindex"));
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
    async reloadRules() {
      try {
        await sendSeqpackets(join(directory, "control"), [reload, end], { timeoutMs: reloadTimeoutMs });
      } catch (error) {
        if (error instanceof NetlinkError && notRunning.has(error.code)) return;
        await askKernel(operations.udev.reloadRules(), () => Promise.reject(error as Error));
      }
    },
  };
}

/** udevd reads its rules again after the events that it handles already. */
const reloadTimeoutMs = 30_000;

const notRunning: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ECONNREFUSED"]);

// struct udev_ctrl_msg_wire: 16 bytes for a version, which udevd does not read, u32 magic, u32 type, 256 bytes of the value.
const reload = controlMessage(4);
const end = controlMessage(0);

function controlMessage(type: number): Buffer {
  const message = Buffer.alloc(16 + 4 + 4 + 256);
  message.write("switchyard");
  message.writeUInt32LE(0xdead_1dea, 16);
  message.writeUInt32LE(type, 20);
  return message;
}
