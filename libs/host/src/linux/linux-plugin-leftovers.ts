// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxPluginLeftovers implements PluginLeftovers. Most hosts never had the plugin, so everything but the list of devices is
 * loaded when it is needed.
 * Usage: `createLinuxPluginLeftovers({ root: "/host", socket, openDiagnosis, xdp, systemd, onUnreadable: () => undefined })`.
 */
import { withHostError } from "../calls/host-error.ts";
import { operations } from "../calls/operations.ts";
import type { PluginLeftovers } from "../ports/plugin-leftovers.ts";
import type { LeftoverDeps } from "./upstream-plugin/leftovers-on-linux.ts";
import type { UnreadableRecord } from "./record-directory.ts";
import { upstreamDeviceRecords } from "./upstream-plugin/upstream-device-record.ts";

export interface LinuxPluginLeftoversDeps extends LeftoverDeps {
  /** Called for each file that is not a record whenever the devices are listed. */
  readonly onUnreadable: (file: UnreadableRecord) => void;
}

export function createLinuxPluginLeftovers({ onUnreadable, ...deps }: LinuxPluginLeftoversDeps): PluginLeftovers {
  const { pluginLeftovers: at } = operations;
  const records = upstreamDeviceRecords(deps.root, onUnreadable);
  const load = async () => (await import("./upstream-plugin/leftovers-on-linux.ts")).createLeftovers(deps);
  return {
    listDevices: () => withHostError(at.listDevices(), async () => [...(await records.list()).values()]),
    removeDevice: async (device) => (await load()).removeDevice(device),
    readUse: async (name) => (await load()).readUse(name),
    detachProgram: async (name, id) => (await load()).detachProgram(name, id),
    listFiles: async (pool) => (await load()).listFiles(pool),
    removeMount: async (path) => (await load()).removeMount(path),
    removeSocket: async (path) => (await load()).removeSocket(path),
    removeDirectories: async () => (await load()).removeDirectories(),
  };
}
