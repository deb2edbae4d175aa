// SPDX-License-Identifier: Apache-2.0
/**
 * GUIDs of InfiniBand VFs (IFLA_VF_IB_NODE_GUID and IFLA_VF_IB_PORT_GUID).
 * Usage: `await setVfGuids(socket, "ib0", { vfId: 0, guid: "00:11:22:33:44:55:66:77" });`
 */
import type { NetlinkSocket } from "../netlink-socket.ts";
import { bytes, nested, text } from "../wire/attributes.ts";
import { parseHardwareAddress } from "../wire/hardware-address.ts";
import { encodeLinkHeader, linkAttributes, linkMessages, vfAttributes } from "./link-message.ts";

/** A VF and the GUID that it gets: eight lower-case bytes with colons. */
export interface VfGuid {
  readonly vfId: number;
  readonly guid: string;
}

const guidBytes = 16; // struct ifla_vf_guid: u32 vf, four bytes of padding, u64 guid

/**
 * `ip link set dev NAME vf ID node_guid GUID port_guid GUID`. Rejects with NetlinkError: EOPNOTSUPP if the driver has no
 * GUIDs, ENODEV if there is no such interface.
 */
export async function setVfGuids(socket: NetlinkSocket, pfName: string, { vfId, guid }: VfGuid): Promise<void> {
  const value = Buffer.alloc(guidBytes);
  value.writeUInt32LE(vfId, 0);
  value.writeBigUInt64LE(parseHardwareAddress(guid).readBigUInt64BE(0), 8);
  for (const [kind, type] of [
    ["node", vfAttributes.nodeGuid],
    ["port", vfAttributes.portGuid],
  ] as const) {
    await socket.request({
      tried: `set vf ${vfId} ${kind} guid ${guid} on ${pfName}`,
      type: linkMessages.setLink,
      payload: Buffer.concat([
        encodeLinkHeader(),
        text(linkAttributes.name, pfName),
        nested(linkAttributes.vfInfoList, [nested(vfAttributes.info, [bytes(type, value)])]),
      ]),
    });
  }
}
