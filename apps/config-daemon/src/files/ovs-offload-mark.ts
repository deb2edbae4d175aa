// SPDX-License-Identifier: Apache-2.0
/**
 * The mark of hardware offload says which process of ovs-vswitchd was running when Switchyard configured hardware offload.
 * As long as this process runs, it must be restarted.
 * Usage: `await host.ovs.setHardwareOffload((await readOffloadMark(host)) ?? unknownProcess);`
 */
import type { Host } from "@switchyard/host";

const pidFile = "/run/openvswitch/ovs-vswitchd.pid";

/** The mark if the process of ovs-vswitchd is not known. It never needs a restart. */
export const unknownProcess = "unknown";

/** Returns the mark of the process that runs now: "BOOT_ID/PID"; undefined if it is not known. Rejects with HostError. */
export async function readOffloadMark({ files, boot }: Pick<Host, "files" | "boot">): Promise<string | undefined> {
  const pid = /^(\d{1,10})\s*$/.exec((await files.readText(pidFile)) ?? "")?.[1];
  return pid === undefined ? undefined : `${await boot.readBootId()}/${pid}`;
}
