// SPDX-License-Identifier: Apache-2.0
/**
 * parseVf reads what a PF stores for one of its VFs: an IFLA_VF_INFO in the link message of the PF. The structs ifla_vf_* begin with the
 * u32 index of the VF (linux/if_link.h).
 */
import { malformed } from "../netlink-error.ts";
import {
  find,
  findNested,
  formatHardwareAddress,
  parseAttributes,
  readU32,
  type Attribute,
} from "../wire/attributes.ts";

/** A VF as the link of its PF reports it. */
export interface LinkVfInfo {
  readonly vfId: number;
  /** Address in the format of the PF's address. */
  readonly address: string;
  /** VLAN ID; 0 for none. */
  readonly vlan: number;
  /** Priority of the VLAN. */
  readonly vlanQos: number;
  /** Absent for a protocol that is neither of the two. */
  readonly vlanProtocol?: VlanProtocol;
  /** Whether the PF drops packets of the VF with other source addresses; absent if the driver does not report it. */
  readonly spoofCheck?: boolean;
  /** Whether the VF may change its address and see other traffic; absent if the driver does not report it. */
  readonly trust?: boolean;
  readonly linkState: VfLinkState;
  /** In Mb/s; 0 for no limit. */
  readonly minTxRate: number;
  /** In Mb/s; 0 for no limit. */
  readonly maxTxRate: number;
  /** InfiniBand node GUID: eight lower-case bytes with colons; absent for other links and before Linux 5.6. */
  readonly nodeGuid?: string;
}

/** The state of the link that a VF sees: that of the PF's port, always up, or always down. */
export type VfLinkState = "auto" | "enable" | "disable";

export type VlanProtocol = "802.1Q" | "802.1ad";

/** ETH_P_*: the type of frames with a tag of the protocol. */
export const vlanEtherTypes: Readonly<Record<VlanProtocol, number>> = { "802.1Q": 0x8100, "802.1ad": 0x88a8 };

/** IFLA_VF_*: attributes of one VF, an IFLA_VF_INFO. */
export const vfAttributes = {
  info: 1,
  mac: 1,
  vlan: 2,
  spoofCheck: 4,
  linkState: 5,
  rate: 6,
  trust: 9,
  nodeGuid: 10,
  portGuid: 11,
  vlanList: 12,
} as const;

/** IFLA_VF_VLAN_INFO, in an IFLA_VF_VLAN_LIST. */
export const vlanInfo = 1;

/** The values of IFLA_VF_LINK_STATE_* by their numbers. */
export const linkStates: readonly VfLinkState[] = ["auto", "enable", "disable"];

const described: ReadonlySet<number> = new Set(Object.values(vfAttributes));

/** `addressBytes` is the length of the PF's address. Throws NetlinkError "malformed". */
export function parseVf({ value }: Attribute, addressBytes: number): LinkVfInfo {
  const attributes = parseAttributes(value, described);
  const mac = find(attributes, vfAttributes.mac); // u32 vf, u8 mac[32]
  if (mac === undefined) throw malformed("VF without address");
  const vlan = find(attributes, vfAttributes.vlan); // u32 vf, u32 vlan, u32 qos
  const guid = find(attributes, vfAttributes.nodeGuid); // u32 vf, four bytes of padding, u64 guid
  const rate = find(attributes, vfAttributes.rate); // u32 vf, u32 min, u32 max
  const spoofCheck = setting(find(attributes, vfAttributes.spoofCheck));
  const trust = setting(find(attributes, vfAttributes.trust));
  const vlanProtocol = protocolIn(findNested(attributes, vfAttributes.vlanList));
  return {
    vfId: readU32(mac),
    address: formatHardwareAddress(mac.subarray(4, 4 + addressBytes)),
    vlan: vlan === undefined ? 0 : readU32(vlan, 4),
    vlanQos: vlan === undefined ? 0 : readU32(vlan, 8),
    ...(vlanProtocol !== undefined && { vlanProtocol }),
    ...(spoofCheck !== undefined && { spoofCheck: spoofCheck !== 0 }),
    ...(trust !== undefined && { trust: trust !== 0 }),
    linkState: linkStates[setting(find(attributes, vfAttributes.linkState)) ?? 0] ?? "auto",
    minTxRate: rate === undefined ? 0 : readU32(rate, 4),
    maxTxRate: rate === undefined ? 0 : readU32(rate, 8),
    ...(guid !== undefined && { nodeGuid: readGuid(guid) }),
  };
}

/** Returns undefined for a protocol that is neither of the two. */
export function protocolOf(value: Buffer): VlanProtocol | undefined {
  if (value.length < 2) throw malformed(`VLAN protocol of ${value.length} bytes`);
  const etherType = value.readUInt16BE(0);
  if (etherType === vlanEtherTypes["802.1Q"]) return "802.1Q";
  return etherType === vlanEtherTypes["802.1ad"] ? "802.1ad" : undefined;
}

/** struct ifla_vf_vlan_info: u32 vf, u32 vlan, u32 qos, be16 protocol. Before Linux 4.9, there is no list, and no other protocol. */
function protocolIn([first]: readonly Attribute[]): VlanProtocol | undefined {
  return first === undefined ? "802.1Q" : protocolOf(first.value.subarray(12));
}

const notReported = 0xffff_ffff; // -1 in struct ifla_vf_info

/** Reads the second u32 of a struct; undefined if the driver does not report the setting. */
function setting(value: Buffer | undefined): number | undefined {
  const number = value === undefined ? notReported : readU32(value, 4);
  return number === notReported ? undefined : number;
}

/** The kernel stores the GUID as a number, in the byte order of the machine. */
function readGuid(value: Buffer): string {
  if (value.length < 16) throw malformed(`VF GUID of ${value.length} bytes`);
  const guid = Buffer.alloc(8);
  guid.writeBigUInt64BE(value.readBigUInt64LE(8));
  return formatHardwareAddress(guid);
}
