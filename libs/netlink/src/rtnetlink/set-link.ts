// SPDX-License-Identifier: Apache-2.0
/**
 * setLinkMtu, setLinkUp and setVfAddress change interfaces, by name or alternative name. All reject with NetlinkError:
 * ENODEV if the interface does not exist, and the kernel's message if it rejects a value.
 * Usage: `await setLinkMtu(socket, "eth0", 9000)`.
 */
import type { NetlinkSocket } from "../netlink-socket.ts";
import { bytes, nested, parseHardwareAddress, u32 } from "../wire/attributes.ts";
import {
  encodeLinkHeader,
  encodeLinkName,
  flagUp,
  linkAttributes,
  linkMessages,
  vfAttributes,
} from "./link-message.ts";

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
  const list = nested(linkAttributes.vfInfoList, [nested(vfAttributes.info, [bytes(vfAttributes.mac, mac)])]);
  await socket.request({
    tried: `set vf ${vf.vfId} mac ${vf.address} on ${pfName}`,
    type: linkMessages.setLink,
    payload: Buffer.concat([encodeLinkHeader(), encodeLinkName(pfName), list]),
  });
}
