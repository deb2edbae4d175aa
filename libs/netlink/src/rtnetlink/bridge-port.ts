// SPDX-License-Identifier: Apache-2.0
/**
 * Settings of the ports of Linux bridges (linux/if_link.h, IFLA_BRPORT_*), by the names of their files in
 * /sys/class/net/PORT/brport. All functions reject with NetlinkError.
 * Usage: `await setBridgePort(socket, "eth0", { learning: 0, isolated: 1 })`.
 */
import type { NetlinkSocket } from "../netlink-socket.ts";
import { bytes, find, findNested, nested, parseAttributes, text, u16, u32 } from "../wire/attributes.ts";
import { encodeLinkHeader, linkAttributes, linkMessages, parseLink, type LinkInfo } from "./link-message.ts";

/** A number for each setting that is given. */
export type BridgePortSettings = Readonly<Partial<Record<BridgePortSetting, number>>>;

/** The name of a setting: "learning", "path_cost". */
export type BridgePortSetting = keyof typeof settings;

/** A port of a bridge. */
export interface BridgePort extends Pick<LinkInfo, "index" | "name" | "parent"> {
  /** All settings that the kernel reports. */
  readonly settings: BridgePortSettings;
}

const headerBytes = 16; // struct ifinfomsg
const info = { slaveKind: 4, slaveData: 5 }; // IFLA_INFO_*

/** The number and the size of the attributes. */
const settings = {
  priority: { type: 2, bytes: 2 },
  path_cost: { type: 3, bytes: 4 },
  hairpin_mode: { type: 4, bytes: 1 },
  bpdu_guard: { type: 5, bytes: 1 },
  root_block: { type: 6, bytes: 1 },
  multicast_fast_leave: { type: 7, bytes: 1 },
  learning: { type: 8, bytes: 1 },
  unicast_flood: { type: 9, bytes: 1 },
  proxyarp: { type: 10, bytes: 1 },
  proxyarp_wifi: { type: 12, bytes: 1 },
  multicast_router: { type: 25, bytes: 1 },
  multicast_flood: { type: 27, bytes: 1 },
  multicast_to_unicast: { type: 28, bytes: 1 },
  broadcast_flood: { type: 30, bytes: 1 },
  neigh_suppress: { type: 32, bytes: 1 },
  isolated: { type: 33, bytes: 1 },
} as const;

/** The names of all settings. */
export const bridgePortSettings: readonly BridgePortSetting[] = keysOf(settings);

/** `ip link set dev PORT type bridge_slave …`: changes the settings that are given. EINVAL, ERANGE for a bad value. */
export async function setBridgePort(socket: NetlinkSocket, port: string, wanted: BridgePortSettings): Promise<void> {
  const data = bridgePortSettings.flatMap((name) => {
    const value = wanted[name];
    return value === undefined ? [] : [encode(name, value)];
  });
  await socket.request({
    tried: `set ${Object.keys(wanted).join(", ")} of bridge port ${port}`,
    type: linkMessages.newLink,
    payload: Buffer.concat([
      encodeLinkHeader(),
      text(linkAttributes.name, port),
      nested(linkAttributes.linkInfo, [text(info.slaveKind, "bridge"), nested(info.slaveData, data)]),
    ]),
  });
}

/** The ports of a bridge, by ascending index. */
export async function listBridgePorts(socket: NetlinkSocket, bridgeIndex: number): Promise<readonly BridgePort[]> {
  const messages = await socket.dump({
    tried: "list ports of bridge",
    type: linkMessages.getLink,
    payload: Buffer.concat([
      encodeLinkHeader(),
      u32(linkAttributes.master, bridgeIndex), // a filter
      u32(linkAttributes.extMask, 0x8), // RTEXT_FILTER_SKIP_STATS
    ]),
  });
  return messages
    .filter(({ type }) => type === linkMessages.newLink)
    .flatMap(({ payload }) => {
      const { index, name, parent, masterIndex } = parseLink(payload);
      if (masterIndex !== bridgeIndex) return []; // kernels that do not filter list all
      return [{ index, name, ...(parent && { parent }), settings: parseSettings(payload) }];
    })
    .sort((a, b) => a.index - b.index);
}

function encode(name: BridgePortSetting, value: number): Buffer {
  const { type, bytes: size } = settings[name];
  if (size === 4) return u32(type, value);
  return size === 2 ? u16(type, value) : bytes(type, Buffer.of(value));
}

function parseSettings(payload: Buffer): BridgePortSettings {
  const linkInfo = findNested(parseAttributes(payload.subarray(headerBytes)), linkAttributes.linkInfo);
  const data = findNested(linkInfo, info.slaveData);
  const found: Partial<Record<BridgePortSetting, number>> = {};
  for (const name of bridgePortSettings) {
    const value = find(data, settings[name].type);
    if (value !== undefined && value.length >= settings[name].bytes)
      found[name] = value.readUIntLE(0, settings[name].bytes);
  }
  return found;
}

function keysOf<Key extends string>(object: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(object).filter((key): key is Key => key in object);
}
