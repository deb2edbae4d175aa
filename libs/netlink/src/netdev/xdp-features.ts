// SPDX-License-Identifier: Apache-2.0
/**
 * listXdpFeatures reads what drivers support of XDP, by the generic netlink family netdev (linux/netdev.h, Linux 6.3).
 * Usage: `const family = await resolveFamily(socket, netdevFamily); await listXdpFeatures(family);`
 */
import { dumpGeneric, type GenericFamily } from "../generic-netlink.ts";
import { find, readU32, readU64 } from "../wire/attributes.ts";

/** The name for resolveFamily(). */
export const netdevFamily = "netdev";

/** What the driver of an interface supports. */
export interface XdpFeatures {
  /** Index of the interface. */
  readonly index: number;
  /** Whether the driver runs XDP programs itself. */
  readonly native: boolean;
  /** Whether the driver supports bpf_redirect_map(), which gives packets to AF_XDP sockets. */
  readonly redirect: boolean;
  /** Whether the driver supports AF_XDP sockets without copying. */
  readonly zeroCopy: boolean;
  /** Largest number of buffers of one packet with zero copy; absent if the kernel does not report it (before Linux 6.6). */
  readonly zeroCopySegments?: number;
}

const deviceGet = 1;
const attributes = { index: 1, xdpFeatures: 3, zeroCopySegments: 4 };
const features = { basic: 1, redirect: 2, zeroCopy: 8 };

/** Returns the features of all interfaces of the network namespace. Rejects with NetlinkError. */
export async function listXdpFeatures(family: GenericFamily): Promise<readonly XdpFeatures[]> {
  const request = { tried: "list XDP features", command: deviceGet, attributes: [] };
  return (await dumpGeneric(family, request)).flatMap((answer) => {
    const [index, mask] = [find(answer, attributes.index), find(answer, attributes.xdpFeatures)];
    if (index === undefined || mask === undefined) return [];
    const segments = find(answer, attributes.zeroCopySegments);
    const has = (feature: number) => (readU64(mask) & feature) !== 0;
    return [
      {
        index: readU32(index),
        native: has(features.basic),
        redirect: has(features.redirect),
        zeroCopy: has(features.zeroCopy),
        ...(segments && { zeroCopySegments: readU32(segments) }),
      },
    ];
  });
}
