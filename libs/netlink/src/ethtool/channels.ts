// SPDX-License-Identifier: Apache-2.0
/**
 * getChannels and setChannels read and change the number of queues of an interface, by the generic netlink family ethtool
 * (Linux 5.7). ethtool(8) shows and changes the same by `-l` and `-L`.
 * Usage: `const family = await resolveFamily(socket, ethtoolFamily); await getChannels(family, "eth0");`
 */
import { requestGeneric, type GenericFamily } from "../generic-netlink.ts";
import { malformed } from "../netlink-error.ts";
import { find, readU32, u32 } from "../wire/attributes.ts";
import { encodeDevice } from "./device.ts";

/** Numbers of channels by what they do. A combined channel receives and sends. */
export interface ChannelCounts {
  readonly receive: number;
  readonly send: number;
  readonly combined: number;
}

export interface Channels {
  readonly now: ChannelCounts;
  readonly most: ChannelCounts;
}

const commands = { getChannels: 17, setChannels: 18 };
const most = { receive: 2, send: 3, combined: 5 };
const now = { receive: 6, send: 7, combined: 9 };

/** `ethtool -l NAME`. Rejects with NetlinkError: ENODEV, EOPNOTSUPP if the driver does not report them. */
export async function getChannels(family: GenericFamily, name: string): Promise<Channels> {
  const tried = `read channels of ${name}`;
  const [answer] = await requestGeneric(family, {
    ...{ tried, command: commands.getChannels },
    attributes: [encodeDevice(name)],
  });
  if (answer === undefined) throw malformed(`no channels in the answer to "${tried}"`);
  // The kernel leaves out the kinds that the driver does not have.
  const count = (type: number) => {
    const value = find(answer, type);
    return value === undefined ? 0 : readU32(value);
  };
  const counts = (types: typeof most): ChannelCounts => ({
    ...{ receive: count(types.receive), send: count(types.send), combined: count(types.combined) },
  });
  return { now: counts(now), most: counts(most) };
}

/**
 * `ethtool -L NAME`. Rejects with NetlinkError: EINVAL for more channels than the driver supports, and for fewer than AF_XDP
 * sockets or other settings use.
 */
export async function setChannels(family: GenericFamily, name: string, counts: Partial<ChannelCounts>): Promise<void> {
  const { receive, send, combined } = counts;
  await requestGeneric(family, {
    tried: `set channels of ${name}`,
    command: commands.setChannels,
    attributes: [
      encodeDevice(name),
      ...(receive === undefined ? [] : [u32(now.receive, receive)]),
      ...(send === undefined ? [] : [u32(now.send, send)]),
      ...(combined === undefined ? [] : [u32(now.combined, combined)]),
    ],
  });
}
