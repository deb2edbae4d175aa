// SPDX-License-Identifier: Apache-2.0
/**
 * findPluginDevices finds the interfaces of devices that the plugins of upstream had, and what they left on them.
 */
import type { Host, UpstreamDevice } from "@switchyard/host";
import { findDeviceLinks, orIfGone } from "../observe/device-links.ts";
import { pluginProgram, type PluginProgram } from "./plugin-program.ts";

export interface PluginDevice {
  readonly record: UpstreamDevice;
  /** Name of the interface; the last known one if the host does not have it. */
  readonly name: string;
  /** Otherwise, the interface is in a pod, or does not exist. */
  readonly isOnHost: boolean;
  readonly program: PluginProgram;
}

/** In the order of the records. Rejects with HostError. */
export async function findPluginDevices(
  host: Host,
  records: readonly UpstreamDevice[],
): Promise<readonly PluginDevice[]> {
  if (records.length === 0) return [];
  const [bootId, pfs, links] = await Promise.all([
    host.boot.readBootId(),
    host.sriov.listPfs(),
    host.links.listLinks(),
  ]);
  const present = await findDeviceLinks(host, { pfs, links });
  const devices: PluginDevice[] = [];
  for (const record of records) {
    const name = present.get(record.device)?.link?.name;
    const use = name === undefined ? undefined : await orIfGone(() => host.pluginLeftovers.readUse(name), undefined);
    const program = use === undefined ? ({ kind: "none" } as const) : pluginProgram(use, record, bootId);
    devices.push({
      record,
      program,
      isOnHost: use !== undefined,
      name: name ?? record.names[0] ?? record.device,
    });
  }
  return devices;
}
