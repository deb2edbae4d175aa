// SPDX-License-Identifier: Apache-2.0
/** What all requests of the ethtool family share (linux/ethtool_netlink.h). */
import { requestGeneric, type GenericFamily } from "../generic-netlink.ts";
import { malformed } from "../netlink-error.ts";
import {
  bytes,
  find,
  findNested,
  nested,
  parseAttributes,
  readText,
  readU32,
  text,
  u32,
  type Attribute,
} from "../wire/attributes.ts";

/** The name for resolveFamily(). */
export const ethtoolFamily = "ethtool";

const attributes = { header: 1, deviceName: 2 };

/** Returns the header that selects an interface. */
function encodeDevice(name: string): Buffer {
  return nested(attributes.header, [text(attributes.deviceName, name)]);
}

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

const channelCommands = { getChannels: 17, setChannels: 18 };

const most = { receive: 2, send: 3, combined: 5 };

const now = { receive: 6, send: 7, combined: 9 };

/**
 * getChannels and setChannels read and change the number of queues of an interface, by the generic netlink family ethtool (Linux
 * 5.7). ethtool(8) shows and changes the same by `-l` and `-L`. `ethtool -l NAME`. Rejects with NetlinkError: ENODEV, EOPNOTSUPP
 * if the driver does not report them.
 */
export async function getChannels(family: GenericFamily, name: string): Promise<Channels> {
  const tried = `read channels of ${name}`;
  const [answer] = await requestGeneric(family, {
    tried,
    command: channelCommands.getChannels,
    attributes: [encodeDevice(name)],
  });
  if (answer === undefined) throw malformed(`no channels in the answer to "${tried}"`);
  // The kernel leaves out the kinds that the driver does not have.
  const count = (type: number) => {
    const value = find(answer, type);
    return value === undefined ? 0 : readU32(value);
  };
  const counts = (types: typeof most): ChannelCounts => ({
    receive: count(types.receive),
    send: count(types.send),
    combined: count(types.combined),
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
    command: channelCommands.setChannels,
    attributes: [
      encodeDevice(name),
      ...(receive === undefined ? [] : [u32(now.receive, receive)]),
      ...(send === undefined ? [] : [u32(now.send, send)]),
      ...(combined === undefined ? [] : [u32(now.combined, combined)]),
    ],
  });
}

/**
 * Features of network interfaces, such as "hw-tc-offload", by the generic netlink family ethtool (linux/ethtool_netlink.h,
 * Linux 5.7). ethtool(8) shows and changes the same by `-k` and `-K`.
 * Names of features.
 */
export interface LinkFeatures {
  /** Features that are on. */
  readonly active: ReadonlySet<string>;
  /** Features that can be changed. The driver may still keep one as it is. */
  readonly changeable: ReadonlySet<string>;
}

const featureCommands = { getFeatures: 11, setFeatures: 12 };

const features = { changeable: 2, wanted: 3, active: 4 };

const bitset = { noMask: 1, bits: 3 };

const bit = { entry: 1, name: 2, value: 3 };

/** Reads the features of an interface. Rejects with NetlinkError: ENODEV if there is no such interface. */
export async function getFeatures(family: GenericFamily, name: string): Promise<LinkFeatures> {
  const [answer] = await requestGeneric(family, {
    tried: `read features of ${name}`,
    command: featureCommands.getFeatures,
    attributes: [encodeDevice(name)],
  });
  if (answer === undefined) throw malformed("no answer with features");
  return { active: bitsOf(answer, features.active), changeable: bitsOf(answer, features.changeable) };
}

/**
 * Turns a feature on or off. Resolves with whether the interface then has it as wanted: drivers may refuse without an error.
 * Rejects with NetlinkError: ENODEV if there is no such interface, EINVAL if the kernel does not know the feature.
 */
export async function setFeature(
  family: GenericFamily,
  name: string,
  feature: { readonly name: string; readonly on: boolean },
): Promise<boolean> {
  const entry = nested(bit.entry, [
    text(bit.name, feature.name),
    ...(feature.on ? [bytes(bit.value, Buffer.alloc(0))] : []),
  ]);
  await requestGeneric(family, {
    tried: `turn ${feature.name} ${feature.on ? "on" : "off"} on ${name}`,
    command: featureCommands.setFeatures,
    // A bitset with a mask: bits that are not listed stay as they are.
    attributes: [encodeDevice(name), nested(features.wanted, [nested(bitset.bits, [entry])])],
  });
  return (await getFeatures(family, name)).active.has(feature.name) === feature.on;
}

/** The names of the bits that are set. Without a mask, all listed bits are. */
function bitsOf(answer: readonly Attribute[], type: number): ReadonlySet<string> {
  const set = findNested(answer, type);
  const hasMask = find(set, bitset.noMask) === undefined;
  const names = findNested(set, bitset.bits).flatMap(({ value }) => {
    const entry = parseAttributes(value);
    const name = find(entry, bit.name);
    return name === undefined || (hasMask && find(entry, bit.value) === undefined) ? [] : [readText(name)];
  });
  return new Set(names);
}
