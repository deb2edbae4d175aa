// SPDX-License-Identifier: Apache-2.0
/**
 * createPluginLeftovers removes what the plugins of upstream have left when they do not serve a device or a pool any longer: XDP programs,
 * BPF file systems and sockets. Only devices with a record and their pools are looked at, and the record goes last. As for the programs of
 * afxdp-device-plugin, the kubelet must say twice, some time apart, that no pod has the device, or a device of the pool.
 */
import { HostError, type Host, type UpstreamDevice } from "@switchyard/host";
import {
  createIdleTimer,
  holdersUnknown,
  type OrphanedProgramsDeps,
  type OrphanedProgramsState,
} from "../orphaned-programs/orphaned-programs.ts";
import { findPluginDevices } from "./find-plugin-devices.ts";
import { createLeftoversScan, leftoverActions } from "./scan-leftovers.ts";
import type { WantedFromPlugins } from "./wanted-from-plugins.ts";

export interface ReleaseOptions {
  readonly wanted: WantedFromPlugins;
  /** Whether XDP programs stay on their devices; not by default. */
  readonly keepsPrograms?: boolean;
}

export interface PluginLeftoversRemoval {
  /**
   * Removes what is free now and was free at an earlier call. `released` has the actions. Rejects with HostError if the host cannot be
   * read.
   */
  release(host: Host, options: ReleaseOptions, signal: AbortSignal): Promise<OrphanedProgramsState>;
}

const nothing: OrphanedProgramsState = { released: [], kept: [], problems: [] };

export function createPluginLeftovers({ readKubelet, nowMs }: OrphanedProgramsDeps): PluginLeftoversRemoval {
  const free = createIdleTimer(nowMs);

  return {
    async release(host, { wanted, keepsPrograms = false }, signal) {
      free.startScan();
      const records = await host.pluginLeftovers.listDevices();
      const unwanted = records.filter(({ device }) => !wanted.devices.has(device));
      const pools = unwantedPools(records, wanted);
      if (unwanted.length === 0 && pools.length === 0) return nothing;
      const kubelet = await readKubelet(signal);
      const devices = await findPluginDevices(host, unwanted); // just before a detachment: a program may begin to use it
      if (!kubelet.ok) {
        const why = holdersUnknown(kubelet.error);
        const names = [...devices.map(({ name }) => name), ...pools.map((pool) => `pool ${pool}`)];
        const problem = `what the plugins of upstream left stays on ${names.join(", ")}: ${why}`;
        return { released: [], kept: names.map((name) => ({ name, why })), problems: [problem] };
      }
      const look = createLeftoversScan(host, { kubelet: kubelet.value, free, keepsPrograms });
      const isFree = new Set<UpstreamDevice>();
      for (const device of devices) if (await look.releaseDevice(device)) isFree.add(device.record);
      const isGone = new Set<string>();
      for (const pool of pools) if (await look.releasePool(pool)) isGone.add(pool);
      const staying = records.filter((record) => !isFree.has(record));
      // A pool that is still served needs a record of one of its devices.
      const isSettled = (pool: string) => isGone.has(pool) || staying.some((record) => record.pools.includes(pool));
      const over = [...isFree].filter((record) => record.pools.every(isSettled));
      const { released, ...state } = look.state();
      const ended = await forget(host, over, { isLast: over.length === records.length && !wanted.isDeployed });
      return {
        released: [...released, ...ended.released],
        kept: [...state.kept, ...ended.kept],
        problems: [...state.problems, ...ended.problems],
      };
    },
  };
}

/** Returns what `config-daemon cleanup` would do if no pod had the devices. Rejects with HostError. */
export async function showPluginLeftovers(host: Host, keepsPrograms: boolean): Promise<readonly string[]> {
  const records = await host.pluginLeftovers.listDevices();
  const lines: string[] = [];
  for (const { name, program } of keepsPrograms ? [] : await findPluginDevices(host, records))
    if (program.kind === "left") lines.push(leftoverActions.detach(program.name, name));
  for (const pool of new Set(records.flatMap((record) => record.pools))) {
    const { mounts, sockets } = await host.pluginLeftovers.listFiles(pool);
    lines.push(...mounts.map(leftoverActions.unmount), ...sockets.map(({ path }) => leftoverActions.remove(path)));
  }
  return [...lines, ...records.map(({ device }) => leftoverActions.forget(device))];
}

function unwantedPools(records: readonly UpstreamDevice[], wanted: WantedFromPlugins): readonly string[] {
  return [...new Set(records.flatMap(({ pools }) => pools))].filter((pool) => !wanted.pools.has(pool));
}

/** Removes records and, with the last one, the directories of the plugins. */
async function forget(
  { pluginLeftovers }: Pick<Host, "pluginLeftovers">,
  records: readonly UpstreamDevice[],
  { isLast }: { readonly isLast: boolean },
): Promise<OrphanedProgramsState> {
  const released: string[] = [];
  try {
    if (isLast) await pluginLeftovers.removeDirectories(); // before the evidence that they are the plugin's
    for (const { device } of records) {
      await pluginLeftovers.removeDevice(device);
      released.push(leftoverActions.forget(device));
    }
    if (isLast) await pluginLeftovers.removeDirectories(); // that of the records
    return { released, kept: [], problems: [] };
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    const name = records[released.length]?.device ?? "";
    return { released, kept: [{ name, why: thrown.message }], problems: [thrown.message] };
  }
}
