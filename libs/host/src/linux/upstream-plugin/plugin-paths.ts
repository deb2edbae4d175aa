// SPDX-License-Identifier: Apache-2.0
/**
 * parsePluginMount and parsePluginSocket recognise the paths of the plugin of upstream (eve-and-afxdp.md b1). Everything else in these
 * directories belongs to others.
 * Usage: `parsePluginMount("/run/afxdp_dp/fast/3f2b8a10-1111-4222-8333-0123456789ab")` is `"fast"`.
 */

/** A UUID, as part of a regular expression. */
export const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** Directories of the plugin on the host: for BPF file systems, and for sockets. */
export const pluginDirectories = { mounts: "/run/afxdp_dp", sockets: "/tmp/afxdp_dp" } as const;

const pool = "[a-zA-Z0-9]{1,20}";
const poolName = new RegExp(`^${pool}$`);
const mount = new RegExp(`^${pluginDirectories.mounts}/(${pool})/${uuid}$`);
const socket = new RegExp(`^${pluginDirectories.sockets}/afxdp_(${pool})/${uuid}\\.sock$`);

/** Whether the plugin accepts the name of a pool. Only such names are parts of paths. */
export function isPluginPool(name: string): boolean {
  return poolName.test(name);
}

/** Returns the pool of a mount; undefined for another path. */
export function parsePluginMount(path: string): string | undefined {
  return mount.exec(path)?.[1];
}

/** Returns the pool of a socket; undefined for another path. */
export function parsePluginSocket(path: string): string | undefined {
  return socket.exec(path)?.[1];
}
