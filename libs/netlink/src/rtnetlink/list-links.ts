// SPDX-License-Identifier: Apache-2.0
/**
 * listLinks lists network interfaces with their VFs; getLink reads one without its VFs.
 * Usage: `const links = await listLinks(socket)`.
 */
import { malformed } from "../netlink-error.ts";
import type { NetlinkSocket } from "../netlink-socket.ts";
import { text, u32 } from "../wire/attributes.ts";
import { encodeLinkHeader, linkAttributes, linkMessages, parseLink, type LinkInfo } from "./link-message.ts";

// RTEXT_FILTER_VF and RTEXT_FILTER_SKIP_STATS. All VFs of a PF share 64 KiB. A VF takes 196 bytes (igb, 6.12), and about 300
// with statistics, which is too much for 256 VFs.
const withVfs = 0x1;
const withoutStatistics = 0x8;

/** `ip -details link show`: returns all interfaces with VF details, ordered by index. Rejects with NetlinkError. */
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

/** `ip -details link show dev NAME`. ENODEV if there is no interface of this name, which has at most 15 bytes. */
export async function getLink(socket: NetlinkSocket, name: string): Promise<LinkInfo> {
  const tried = `read interface ${name}`;
  const messages = await socket.request({
    tried,
    type: linkMessages.getLink,
    payload: Buffer.concat([
      encodeLinkHeader(),
      text(linkAttributes.name, name),
      u32(linkAttributes.extMask, withoutStatistics),
    ]),
  });
  const answer = messages.find(({ type }) => type === linkMessages.newLink);
  if (answer === undefined) throw malformed(`no interface in the answer to "${tried}"`);
  return parseLink(answer.payload);
}
