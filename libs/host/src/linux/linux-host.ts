// SPDX-License-Identifier: Apache-2.0
/**
 * The host that we run on. Files are read under a root; network interfaces are those of our own network namespace, which
 * is the host's in a pod with hostNetwork.
 * Usage: `await using host = createLinuxHost("/host", { onUnreadableRecord: ({ path }) => log.warn(...) })`.
 */
import { NetlinkSocket, protocols } from "@switchyard/netlink";
import type { Host } from "../ports/host.ts";
import { createLinuxBoot } from "./linux-boot.ts";
import { createLinuxDevlink } from "./linux-devlink.ts";
import { createLinuxHostFiles } from "./linux-host-files.ts";
import { createLinuxKernelEvents } from "./linux-kernel-events.ts";
import { createLinuxKernelModules } from "./linux-kernel-modules.ts";
import { createLinuxLinks } from "./linux-links.ts";
import { createLinuxPfRecords, type UnreadableRecord } from "./linux-pf-records.ts";
import { createLinuxRdma } from "./linux-rdma.ts";
import { createLinuxSriovSysfs } from "./linux-sriov-sysfs.ts";
import { createLinuxUdev } from "./linux-udev.ts";

export interface LinuxHostOptions {
  /** Told of each file in the place of a record that is none. */
  readonly onUnreadableRecord: (file: UnreadableRecord) => void;
}

/** All ports of the host whose files are at `root`: "/" or "/host". Disposing of it waits for what is under way. */
export function createLinuxHost(root: string, { onUnreadableRecord }: LinuxHostOptions): Host & AsyncDisposable {
  const sockets = new AsyncDisposableStack();
  const open = (protocol: number) => sockets.use(new NetlinkSocket({ protocol }));
  return {
    // Not below `root`: others compare it with what they read, who may have no mount of the host.
    boot: createLinuxBoot("/"),
    sriov: createLinuxSriovSysfs(root),
    links: createLinuxLinks({ root, socket: open(protocols.route) }),
    devlink: createLinuxDevlink(open(protocols.generic)),
    rdma: createLinuxRdma({ root, openSocket: () => new NetlinkSocket({ protocol: protocols.rdma }) }),
    udev: createLinuxUdev(root),
    modules: createLinuxKernelModules(root),
    records: createLinuxPfRecords(root, { onUnreadable: onUnreadableRecord }),
    files: createLinuxHostFiles(root),
    events: createLinuxKernelEvents(),
    [Symbol.asyncDispose]: () => sockets.disposeAsync(),
  };
}
