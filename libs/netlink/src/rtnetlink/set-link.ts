// SPDX-License-Identifier: Apache-2.0
/**
 * setLinkMtu, setLinkUp, setVfAddress and setVfSetting change interfaces, by name or alternative name. All reject with NetlinkError:
 * ENODEV if the interface does not exist, and the kernel's message if it rejects a value.
 * Usage: `await setLinkMtu(socket, "eth0", 9000)`.
 */
import type { NetlinkSocket } from "../netlink-socket.ts";
import { bytes, nested, parseHardwareAddress, u32 } from "../wire/attributes.ts";
import { encodeLinkHeader, encodeLinkName, flagUp, linkAttributes, linkMessages } from "./link-message.ts";
import { linkStates, vfAttributes, vlanEtherTypes, vlanInfo, type VfLinkState, type VlanProtocol } from "./vf-info.ts";

const vfMacBytes = 36; // struct ifla_vf_mac: u32 vf, u8 mac[32]

/** `ip link set dev NAME mtu MTU`. */
export async function setLinkMtu(socket: NetlinkSocket, name: string, mtu: number): Promise<void> {
  await socket.request({
    tried: `set mtu ${mtu} on ${name}`,
    type: linkMessages.setLink,
    payload: Buffer.concat([encodeLinkHeader(), encodeLinkName(name), u32(linkAttributes.mtu, mtu)]),
  });
}

/** `ip link set dev NAME up` or `down`. */
export async function setLinkUp(socket: NetlinkSocket, name: string, up: boolean): Promise<void> {
  await socket.request({
    tried: `set ${name} ${up ? "up" : "down"}`,
    type: linkMessages.setLink,
    payload: Buffer.concat([encodeLinkHeader({ flags: up ? flagUp : 0, change: flagUp }), encodeLinkName(name)]),
  });
}

/** A VF and its new address: lower-case hexadecimal bytes with colons. */
export interface VfAddress {
  readonly vfId: number;
  readonly address: string;
}

/** `ip link set dev NAME vf ID mac ADDRESS`. EOPNOTSUPP if the driver has no VFs, EINVAL if this VF does not exist. */
export async function setVfAddress(socket: NetlinkSocket, pfName: string, vf: VfAddress): Promise<void> {
  const mac = Buffer.alloc(vfMacBytes);
  mac.writeUInt32LE(vf.vfId, 0);
  parseHardwareAddress(vf.address).copy(mac, 4);
  await setVf(socket, pfName, {
    tried: `set vf ${vf.vfId} mac ${vf.address} on ${pfName}`,
    attribute: bytes(vfAttributes.mac, mac),
  });
}

/** One setting of a VF that its PF stores. Rates are in Mb/s, and 0 is no limit. */
export type VfSetting =
  | { readonly vlan: number; readonly qos: number; readonly protocol: VlanProtocol }
  | { readonly spoofCheck: boolean }
  | { readonly trust: boolean }
  | { readonly linkState: VfLinkState }
  | { readonly minTxRate: number; readonly maxTxRate: number };

/**
 * `ip link set dev NAME vf ID vlan …`, `spoofchk`, `trust`, `state` or `min_tx_rate … max_tx_rate …`. EOPNOTSUPP if the driver does not
 * have the setting, EINVAL if this VF does not exist.
 */
export async function setVfSetting(
  socket: NetlinkSocket,
  pfName: string,
  { vfId, setting }: { readonly vfId: number; readonly setting: VfSetting },
): Promise<void> {
  const { words, attribute } = encodeSetting(vfId, setting);
  await setVf(socket, pfName, { tried: `set vf ${vfId} ${words} on ${pfName}`, attribute });
}

function encodeSetting(vfId: number, setting: VfSetting): { readonly words: string; readonly attribute: Buffer } {
  if ("vlan" in setting) {
    const { vlan, qos, protocol } = setting;
    const info = u32s(vfId, vlan, qos, 0);
    info.writeUInt16BE(vlanEtherTypes[protocol], 12);
    const attribute = nested(vfAttributes.vlanList, [bytes(vlanInfo, info)]);
    return { words: `vlan ${vlan} qos ${qos} proto ${protocol}`, attribute };
  }
  if ("minTxRate" in setting) {
    const { minTxRate: min, maxTxRate: max } = setting;
    const words = `min_tx_rate ${min} max_tx_rate ${max}`;
    return { words, attribute: bytes(vfAttributes.rate, u32s(vfId, min, max)) };
  }
  if ("linkState" in setting) {
    const { linkState } = setting;
    const attribute = bytes(vfAttributes.linkState, u32s(vfId, linkStates.indexOf(linkState)));
    return { words: `state ${linkState}`, attribute };
  }
  const [word, type, isOn] =
    "trust" in setting
      ? ["trust", vfAttributes.trust, setting.trust]
      : ["spoofchk", vfAttributes.spoofCheck, setting.spoofCheck];
  return { words: `${word} ${isOn ? "on" : "off"}`, attribute: bytes(type, u32s(vfId, isOn ? 1 : 0)) };
}

function u32s(...numbers: readonly number[]): Buffer {
  const encoded = Buffer.alloc(4 * numbers.length);
  for (const [at, number] of numbers.entries()) encoded.writeUInt32LE(number, 4 * at);
  return encoded;
}

async function setVf(
  socket: NetlinkSocket,
  pfName: string,
  { tried, attribute }: { readonly tried: string; readonly attribute: Buffer },
): Promise<void> {
  const list = nested(linkAttributes.vfInfoList, [nested(vfAttributes.info, [attribute])]);
  await socket.request({
    tried,
    type: linkMessages.setLink,
    payload: Buffer.concat([encodeLinkHeader(), encodeLinkName(pfName), list]),
  });
}
