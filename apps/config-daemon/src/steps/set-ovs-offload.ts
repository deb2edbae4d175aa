// SPDX-License-Identifier: Apache-2.0
/**
 * Configures hardware offload in Open vSwitch and restarts ovs-vswitchd, which reads it once. The unit has the same name in
 * Debian, Ubuntu, RHEL and Fedora.
 */
import type { Host } from "@switchyard/host";
import { readOffloadMark, unknownProcess } from "../files/ovs-offload-mark.ts";

const unit = "ovs-vswitchd.service";

export async function setOvsOffload(_step: unknown, host: Host): Promise<void> {
  await host.ovs.setHardwareOffload((await readOffloadMark(host)) ?? unknownProcess);
}

export async function restartOvs(_step: unknown, { systemd }: Host): Promise<void> {
  await systemd.restartUnit(unit);
}
