// SPDX-License-Identifier: Apache-2.0
/**
 * Features of network interfaces, such as "hw-tc-offload", by the generic netlink family ethtool (linux/ethtool_netlink.h,
 * Linux 5.7). ethtool(8) shows and changes the same by `-k` and `-K`.
 * Usage: `const family = await resolveFamily(socket, ethtoolFamily); await getFeatures(family, "eth0");`
 */
import { requestGeneric, type GenericFamily } from "../generic-netlink.ts";
import { malformed } from "../netlink-error.ts";
import {
  bytes,
  find,
  findNested,
  nested,
  parseAttributes,
  readText,
  text,
  type Attribute,
} from "../wire/attributes.ts";
import { encodeDevice } from "./device.ts";

/** Names of features. */
export interface LinkFeatures {
  /** Features that are on. */
  readonly active: ReadonlySet<string>;
  /** Features that can be changed. The driver may still keep one as it is. */
  readonly changeable: ReadonlySet<string>;
}

const commands = { getFeatures: 11, setFeatures: 12 };
const features = { changeable: 2, wanted: 3, active: 4 };
const bitset = { noMask: 1, bits: 3 };
const bit = { entry: 1, name: 2, value: 3 };

/** Reads the features of an interface. Rejects with NetlinkError: ENODEV if there is no such interface. */
export async function getFeatures(family: GenericFamily, name: string): Promise<LinkFeatures> {
  const [answer] = await requestGeneric(family, {
    tried: `read features of ${name}`,
    command: commands.getFeatures,
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
    command: commands.setFeatures,
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
