// SPDX-License-Identifier: Apache-2.0
/**
 * Linux bridges (linux/if_link.h, IFLA_BR_*); bridge-port.ts has the settings of their ports. All functions reject with NetlinkError: ENODEV if there is no
 * interface of a name.
 * Usage: `await createBridge(socket, { name: "br0", vlanFiltering: true }); await setMaster(socket, "eth0", index);`
 */
import { malformed } from "../netlink-error.ts";
import type { NetlinkSocket } from "../netlink-socket.ts";
import { bytes, find, findNested, nested, parseAttributes, readText, readU32, text, u32 } from "../wire/attributes.ts";
import { encodeLinkHeader, flagUp, linkAttributes, linkMessages } from "./link-message.ts";
import { protocolOf, vlanEtherTypes, type VlanProtocol } from "./vf-info.ts";

/** The tag by which a bridge knows VLANs: EtherType 0x8100 or 0x88a8. */
export interface NewBridge {
  /** At most 15 bytes. */
  readonly name: string;
  readonly vlanFiltering?: boolean | undefined;
  /** Default: 802.1Q. */
  readonly vlanProtocol?: VlanProtocol | undefined;
  /** Number of the group of interfaces (`ip link show group N`), which exists from the first moment. Default: 0. */
  readonly group?: number | undefined;
}

/** A bridge as the kernel has it. */
export interface BridgeLink {
  readonly index: number;
  readonly name: string;
  readonly alias: string;
  readonly group: number;
  readonly adminUp: boolean;
  readonly vlanFiltering: boolean;
  /** Undefined for another EtherType. */
  readonly vlanProtocol: VlanProtocol | undefined;
}

const headerBytes = 16; // struct ifinfomsg
const attributes = { name: 3, master: 10, linkInfo: 18, alias: 20, group: 27 };
const info = { kind: 1, data: 2 };
const bridgeData = { vlanFiltering: 7, vlanProtocol: 8 };

/** `ip link add NAME type bridge …`. EEXIST if there is an interface of this name. */
export async function createBridge(socket: NetlinkSocket, bridge: NewBridge): Promise<void> {
  await socket.request({
    tried: `create bridge ${bridge.name}`,
    type: linkMessages.newLink,
    creates: true,
    payload: Buffer.concat([
      encodeLinkHeader(),
      text(attributes.name, bridge.name),
      ...(bridge.group === undefined ? [] : [u32(attributes.group, bridge.group)]),
      nested(attributes.linkInfo, [text(info.kind, "bridge"), nested(info.data, encodeData(bridge))]),
    ]),
  });
}

/** `ip link set NAME type bridge …`: changes the settings that are given. */
export async function setBridge(socket: NetlinkSocket, bridge: Omit<NewBridge, "group">): Promise<void> {
  await socket.request({
    tried: `configure bridge ${bridge.name}`,
    type: linkMessages.newLink, // RTM_SETLINK ignores IFLA_LINKINFO
    payload: Buffer.concat([
      encodeLinkHeader(),
      text(attributes.name, bridge.name),
      nested(attributes.linkInfo, [text(info.kind, "bridge"), nested(info.data, encodeData(bridge))]),
    ]),
  });
}

/**
 * `ip link set dev NAME alias ALIAS`: a text of at most 255 bytes, for example to whom the interface belongs. An alias that is
 * given at the creation of an interface is ignored (Linux 6.12).
 */
export async function setLinkAlias(socket: NetlinkSocket, name: string, alias: string): Promise<void> {
  await socket.request({
    tried: `set alias of ${name}`,
    type: linkMessages.setLink,
    payload: Buffer.concat([encodeLinkHeader(), text(attributes.name, name), text(attributes.alias, alias)]),
  });
}

/** `ip link del NAME`. EOPNOTSUPP if the interface is a device. */
export async function deleteLink(socket: NetlinkSocket, name: string): Promise<void> {
  await socket.request({
    tried: `delete interface ${name}`,
    type: linkMessages.delLink,
    payload: Buffer.concat([encodeLinkHeader(), text(attributes.name, name)]),
  });
}

/** `ip link set dev NAME master …`, with the bridge's index, or `nomaster` with 0. EBUSY, ELOOP and more from the kernel. */
export async function setMaster(socket: NetlinkSocket, name: string, masterIndex: number): Promise<void> {
  await socket.request({
    tried: masterIndex === 0 ? `release ${name} from its bridge` : `enslave ${name} to interface ${masterIndex}`,
    type: linkMessages.setLink,
    payload: Buffer.concat([encodeLinkHeader(), text(attributes.name, name), u32(attributes.master, masterIndex)]),
  });
}

/** All bridges, by ascending index. */
export async function listBridges(socket: NetlinkSocket): Promise<readonly BridgeLink[]> {
  const messages = await socket.dump({
    tried: "list bridges",
    type: linkMessages.getLink,
    payload: Buffer.concat([
      encodeLinkHeader(),
      nested(attributes.linkInfo, [text(info.kind, "bridge")]), // a filter
      u32(linkAttributes.extMask, 0x8), // RTEXT_FILTER_SKIP_STATS
    ]),
  });
  return messages
    .flatMap(({ type, payload }) => (type === linkMessages.newLink ? parseBridge(payload) : []))
    .sort((a, b) => a.index - b.index);
}

/** No bridge if the link is another one: kernels that do not filter list all. */
function parseBridge(payload: Buffer): readonly BridgeLink[] {
  if (payload.length < headerBytes) throw malformed(`link message of ${payload.length} bytes`);
  const link = parseAttributes(payload.subarray(headerBytes));
  const linkInfo = findNested(link, attributes.linkInfo);
  const kind = find(linkInfo, info.kind);
  const name = find(link, attributes.name);
  if (kind === undefined || readText(kind) !== "bridge" || name === undefined) return [];
  const data = findNested(linkInfo, info.data);
  const alias = find(link, attributes.alias);
  const group = find(link, attributes.group);
  const protocol = find(data, bridgeData.vlanProtocol);
  return [
    {
      index: readU32(payload, 4),
      name: readText(name),
      alias: alias === undefined ? "" : readText(alias),
      group: group === undefined ? 0 : readU32(group),
      adminUp: (readU32(payload, 8) & flagUp) !== 0,
      vlanFiltering: find(data, bridgeData.vlanFiltering)?.[0] === 1,
      vlanProtocol: protocol && protocolOf(protocol),
    },
  ];
}

function encodeData({ vlanFiltering, vlanProtocol }: Pick<NewBridge, "vlanFiltering" | "vlanProtocol">): Buffer[] {
  const data: Buffer[] = [];
  if (vlanFiltering !== undefined) data.push(bytes(bridgeData.vlanFiltering, Buffer.of(vlanFiltering ? 1 : 0)));
  if (vlanProtocol !== undefined) {
    const etherType = Buffer.alloc(2);
    etherType.writeUInt16BE(vlanEtherTypes[vlanProtocol]);
    data.push(bytes(bridgeData.vlanProtocol, etherType));
  }
  return data;
}
