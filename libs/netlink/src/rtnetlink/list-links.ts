// SPDX-License-Identifier: Apache-2.0
/**
 * Usage: `const links = await listLinks(socket)`.
 */
import type { NetlinkSocket } from "../netlink-socket.ts";
import { u32 } from "../wire/attributes.ts";
import { encodeLinkHeader, linkAttributes, linkMessages, parseLink, type LinkInfo } from "./link-message.ts";

// RTEXT_FILTER_VF and RTEXT_FILTER_SKIP_STATS. A VF takes 196 bytes of the 64 KiB that all have together (igb, 6.12), with its
// statistics about 300: too many for 256 VFs.
const withVfs = 0x1;
const withoutStatistics = 0x8;

/** `ip -details link show`: all interfaces, VF details included, by ascending index. */
export async function listLinks(socket: NetlinkSocket): Promise<readonly LinkInfo[]> {
  const messages = await socket.dump({
    tried: "list network interfaces",
    type: linkMessages.getLink,
    payload: Buffer.concat([encodeLinkHeader(), u32(linkAttributes.extMask, withVfs | withoutStatistics)]),
  });
  return messages
    .filter(({ type }) => type === linkMessages.newLink)
    .map(({ payload }) => parseLink(payload))
    .sort((a, b) => a.index - b.index);
}
