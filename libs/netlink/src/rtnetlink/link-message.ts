// SPDX-License-Identifier: Apache-2.0
/**
 * parseLink, parseLinkIdentity and encodeLinkHeader read and write link messages of rtnetlink (struct ifinfomsg: u8 family, u8 padding,
 * u16 type, i32 index, u32 flags, u32 change; then attributes IFLA_*, linux/if_link.h).
 * Usage: `const link = parseLink(message.payload)`.
 */
import { malformed } from "../netlink-error.ts";
import {
  find,
  findNested,
  formatHardwareAddress,
  parseAttributes,
  readText,
  readU16,
  readU32,
  text,
  type Attribute,
} from "../wire/attributes.ts";
import { parseVf, type LinkVfInfo } from "./vf-info.ts";

/** Which interface a message is about. */
export interface LinkIdentity {
  readonly index: number;
  readonly name: string;
  /** Bus and name of the parent device: "pci", "0000:06:00.0". Since Linux 5.14. */
  readonly parent?: { readonly bus: string; readonly name: string };
}

/** A network interface as the kernel reports it. */
export interface LinkInfo extends LinkIdentity {
  readonly altNames: readonly string[];
  /** ARPHRD_*: 1 Ethernet, 32 InfiniBand, 772 loopback. */
  readonly hardwareType: number;
  /** Lower-case hexadecimal bytes with colons; "" if there is no address. */
  readonly address: string;
  /** The address that the hardware has. Since Linux 5.6; absent if the driver chose the address at random, and for virtual devices. */
  readonly permanentAddress?: string;
  readonly adminUp: boolean;
  /** Whether somebody has set the interface to promiscuous mode. Programs that capture packets do not count. */
  readonly promiscuous: boolean;
  readonly mtu: number;
  /** Absent if the driver reports none. */
  readonly maxMtu?: number;
  /** "veth", "bridge", "vlan"; absent for hardware devices. */
  readonly kind?: string;
  /** Index of the bridge, bond or other interface of which this one is a port. */
  readonly masterIndex?: number;
  /** Index of the interface below this one: the device of a VLAN or macvlan. Absent if it is in another network namespace. */
  readonly lowerIndex?: number;
  /** Physical port name: "p0", "pf0vf3". */
  readonly physPortName?: string;
  /** Physical switch ID, hexadecimal. */
  readonly physSwitchId?: string;
  /** Whether an XDP program is attached, in whatever mode. readXdp() returns which. */
  readonly hasXdp: boolean;
  /** VFs in the order of the message; empty unless VF details were requested. */
  readonly vfs: readonly LinkVfInfo[];
}

/** RTM_*: types of link messages. */
export const linkMessages = { newLink: 16, delLink: 17, getLink: 18, setLink: 19 } as const;

/** IFLA_*: attributes of link messages. */
export const linkAttributes = {
  address: 1,
  name: 3,
  mtu: 4,
  link: 5,
  master: 10,
  linkInfo: 18,
  vfInfoList: 22,
  extMask: 29,
  physSwitchId: 36,
  linkNamespace: 37,
  physPortName: 38,
  xdp: 43,
  maxMtu: 51,
  properties: 52,
  altName: 53,
  permanentAddress: 54,
  parentDevice: 56,
  parentBus: 57,
} as const;

const identifying: ReadonlySet<number> = new Set([
  linkAttributes.name,
  linkAttributes.parentDevice,
  linkAttributes.parentBus,
]);
const described: ReadonlySet<number> = new Set(Object.values(linkAttributes));

/** IFF_UP in the flags of ifinfomsg. */
export const flagUp = 1;

const flagPromiscuous = 0x100; // IFF_PROMISC: what somebody has set, and not what packet sockets need meanwhile

/** sizeof(struct ifinfomsg). */
export const linkHeaderBytes = 16;

const infoKind = 1; // IFLA_INFO_KIND
const xdpAttached = 2; // IFLA_XDP_ATTACHED: a byte, 0 without a program
const maxNameBytes = 15; // IFNAMSIZ - 1; longer names are alternative names

/** Returns the ifinfomsg of a request. */
export function encodeLinkHeader(header: { readonly flags?: number; readonly change?: number } = {}): Buffer {
  const encoded = Buffer.alloc(linkHeaderBytes);
  encoded.writeUInt32LE(header.flags ?? 0, 8);
  encoded.writeUInt32LE(header.change ?? 0, 12);
  return encoded;
}

/** Returns the attribute that selects an interface by its name or alternative name. */
export function encodeLinkName(name: string): Buffer {
  const isShort = Buffer.byteLength(name) <= maxNameBytes;
  return text(isShort ? linkAttributes.name : linkAttributes.altName, name);
}

/** Parses the payload of an RTM_NEWLINK or RTM_DELLINK. Throws NetlinkError "malformed". */
export function parseLink(payload: Buffer): LinkInfo {
  const attributes = attributesOf(payload, described);
  const identity = identityOf(payload, attributes);
  const address = find(attributes, linkAttributes.address) ?? Buffer.alloc(0);
  const maxMtu = optional(find(attributes, linkAttributes.maxMtu), readU32);
  const permanentAddress = optional(find(attributes, linkAttributes.permanentAddress), formatHardwareAddress);
  const kind = optional(find(findNested(attributes, linkAttributes.linkInfo), infoKind), readText);
  const master = optional(find(attributes, linkAttributes.master), readU32);
  const isBelowHere = find(attributes, linkAttributes.linkNamespace) === undefined;
  const lower = isBelowHere ? optional(find(attributes, linkAttributes.link), readU32) : undefined;
  const physPortName = optional(find(attributes, linkAttributes.physPortName), readText);
  const physSwitchId = find(attributes, linkAttributes.physSwitchId)?.toString("hex");
  const xdp = find(findNested(attributes, linkAttributes.xdp), xdpAttached);
  const flags = readU32(payload, 8);

  return {
    ...identity,
    altNames: findNested(attributes, linkAttributes.properties)
      .filter(({ type }) => type === linkAttributes.altName)
      .map(({ value }) => readText(value)),
    hardwareType: readU16(payload, 2),
    address: formatHardwareAddress(address),
    ...(permanentAddress !== undefined && { permanentAddress }),
    adminUp: (flags & flagUp) !== 0,
    promiscuous: (flags & flagPromiscuous) !== 0,
    mtu: optional(find(attributes, linkAttributes.mtu), readU32) ?? 0,
    ...(maxMtu !== undefined && maxMtu !== 0 && { maxMtu }),
    ...(kind !== undefined && { kind }),
    ...(master !== undefined && master !== 0 && { masterIndex: master }),
    ...(lower !== undefined && lower !== 0 && lower !== identity.index && { lowerIndex: lower }),
    ...(physPortName !== undefined && { physPortName }),
    ...(physSwitchId !== undefined && { physSwitchId }),
    hasXdp: (xdp?.[0] ?? 0) !== 0,
    vfs: findNested(attributes, linkAttributes.vfInfoList).map((vf) => parseVf(vf, address.length)),
  };
}

/** Parses as little as possible of the payload. Throws NetlinkError "malformed". */
export function parseLinkIdentity(payload: Buffer): LinkIdentity {
  return identityOf(payload, attributesOf(payload, identifying));
}

function attributesOf(payload: Buffer, wanted: ReadonlySet<number>): readonly Attribute[] {
  if (payload.length < linkHeaderBytes) throw malformed(`link message of ${payload.length} bytes`);
  return parseAttributes(payload.subarray(linkHeaderBytes), wanted);
}

function identityOf(payload: Buffer, attributes: readonly Attribute[]): LinkIdentity {
  const textOf = (type: number) => optional(find(attributes, type), readText);
  const name = textOf(linkAttributes.name);
  if (name === undefined) throw malformed("link without name");
  const parent = textOf(linkAttributes.parentDevice);
  const bus = textOf(linkAttributes.parentBus);
  return {
    index: payload.readInt32LE(4),
    name,
    ...(parent !== undefined && bus !== undefined && { parent: { bus, name: parent } }),
  };
}

function optional<Value>(value: Buffer | undefined, read: (value: Buffer) => Value): Value | undefined {
  return value === undefined ? undefined : read(value);
}
