// SPDX-License-Identifier: Apache-2.0
/**
 * containerAllocation returns what a container gets with its devices: an environment variable, and for each device the directory with
 * its socket or the file of its map, where DPDK expects them. Pure.
 */
import type { ContainerAllocation, Mount } from "@switchyard/kubelet";
import { xskMapName } from "@switchyard/netlink";
import type { NodePool } from "./node-pools.ts";

/** Directories on the host. */
export interface DevicePaths {
  /** Has a directory for each device, with its socket. */
  readonly sockets: string;
  /** In a BPF file system; has a directory for each device, with its map. */
  readonly maps: string;
}

/** Names that programs in pods know. */
export const [socketName, mapName] = ["afxdp.sock", xskMapName] as const;
const podDirectory = "/tmp/afxdp_dp";

/** Returns the directory of the device's socket. */
export function socketDirectory({ sockets }: Pick<DevicePaths, "sockets">, device: string): string {
  return `${sockets}/${device}`;
}

/** Returns the directory of the device's pinned map. */
export function mapDirectory({ maps }: Pick<DevicePaths, "maps">, device: string): string {
  return `${maps}/${device}`;
}

/**
 * The directory of the socket is mounted, not the socket: after a restart of the plugin, it has a new socket. It is read-only for the
 * container, which can use the socket nevertheless.
 */
export function containerAllocation(
  pool: Pick<NodePool, "name" | "hasSocket" | "hasPinnedMap">,
  devices: readonly string[],
  paths: DevicePaths,
): ContainerAllocation {
  const mounts = devices.flatMap((device): readonly Mount[] => [
    ...(pool.hasSocket
      ? [
          {
            containerPath: `${podDirectory}/${device}`,
            hostPath: socketDirectory(paths, device),
            isReadOnly: true,
          },
        ]
      : []),
    ...(pool.hasPinnedMap
      ? [
          {
            containerPath: `${podDirectory}/${device}/${mapName}`,
            hostPath: `${mapDirectory(paths, device)}/${mapName}`,
            isReadOnly: false,
          },
        ]
      : []),
  ]);
  return { environment: { [`AFXDP_DEVICES_${pool.name.toUpperCase()}`]: devices.join(" ") }, mounts };
}
