// SPDX-License-Identifier: Apache-2.0
/**
 * getRdmaMode reads whether RDMA devices are visible in all network namespaces or in one each (rdma/rdma_netlink.h).
 * Usage: `await using socket = new NetlinkSocket({ protocol: protocols.rdma }); await getRdmaMode(socket)`.
 *
 * A socket of this protocol makes the kernel load ib_core (alias net-pf-16-proto-20). The module cannot be unloaded while
 * the socket is open.
 */
import { malformed } from "../netlink-error.ts";
import type { NetlinkSocket } from "../netlink-socket.ts";
import { encodeLinkHeader, linkAttributes, linkMessages } from "../rtnetlink/link-message.ts";
import { vfAttributes } from "../rtnetlink/vf-info.ts";
import { bytes, find, nested, parseAttributes, parseHardwareAddress, text } from "../wire/attributes.ts";

export type RdmaMode = "exclusive" | "shared";

// RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET)
const getSystem = (5 << 10) + 6;
const setSystem = (5 << 10) + 7; // RDMA_NLDEV_CMD_SYS_SET
const netnsMode = 66; // RDMA_NLDEV_SYS_ATTR_NETNS_MODE
const modes: readonly RdmaMode[] = ["exclusive", "shared"]; // indexed by their number

/** `rdma system show`. Rejects with NetlinkError; EINVAL on kernels before 5.2, which have no modes. */
export async function getRdmaMode(socket: NetlinkSocket): Promise<RdmaMode> {
  const tried = "read RDMA mode";
  const [answer] = await socket.request({ tried, type: getSystem, payload: Buffer.alloc(0) });
  const value = answer && find(parseAttributes(answer.payload), netnsMode);
  const mode = modes[value?.[0] ?? -1];
  if (mode === undefined) throw malformed(`RDMA mode ${value?.toString("hex") ?? "missing"}`);
  return mode;
}

/**
 * `rdma system set netns MODE`. Rejects with NetlinkError: EBUSY if another network namespace than the first has RDMA devices
 * in use, EINVAL if the kernel is older than 5.2.
 */
export async function setRdmaMode(socket: NetlinkSocket, mode: RdmaMode): Promise<void> {
  const tried = `set RDMA mode ${mode}`;
  const payload = bytes(netnsMode, Buffer.of(modes.indexOf(mode)));
  await socket.request({ tried, type: setSystem, payload });
}

/**
 * GUIDs of InfiniBand VFs (IFLA_VF_IB_NODE_GUID and IFLA_VF_IB_PORT_GUID).
 * A VF and the GUID that it gets: eight lower-case bytes with colons.
 */
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
