// SPDX-License-Identifier: Apache-2.0
/**
 * readXdp, attachXdp and detachXdp read and change the XDP program of an interface (IFLA_XDP, linux/if_link.h). None of them
 * replaces or removes a program of somebody else.
 * Usage: `await attachXdp(socket, "ens1f0", { program, mode: "native" })`.
 */
import type { XdpProgram } from "../bpf/xdp-program.ts";
import { malformed } from "../netlink-error.ts";
import type { NetlinkSocket } from "../netlink-socket.ts";
import { find, findNested, nested, parseAttributes, readU32, u32, type Attribute } from "../wire/attributes.ts";
import { encodeLinkHeader, encodeLinkName, linkAttributes, linkHeaderBytes, linkMessages } from "./link-message.ts";

/** "native": the driver runs the program. "generic": the network stack does, for all drivers, more slowly. */
export type XdpMode = "native" | "generic" | "offloaded";

/** The program of an interface. */
export interface AttachedXdp {
  readonly mode: XdpMode;
  readonly programId: number;
}

/** A program and how the interface is to run it. */
export interface XdpAttachment {
  readonly program: Pick<XdpProgram, "fd" | "id">;
  readonly mode: "native" | "generic";
}

const xdp = { fd: 1, flags: 3, nativeId: 5, genericId: 6, offloadId: 7, expectedFd: 8 };
const flags = { ifNoneExists: 1, generic: 2, native: 4, replace: 16 };
const detached = 0xffffffff; // a descriptor of -1 removes the program
const noStatistics = 0x8; // RTEXT_FILTER_SKIP_STATS

const ids: readonly (readonly [XdpMode, number])[] = [
  ["native", xdp.nativeId],
  ["generic", xdp.genericId],
  ["offloaded", xdp.offloadId],
];

/** `ip link show dev NAME`: returns the programs, of which there can be one of each mode. ENODEV without such an interface. */
export async function readXdp(socket: NetlinkSocket, name: string): Promise<readonly AttachedXdp[]> {
  const messages = await socket.request({
    tried: `read XDP program of ${name}`,
    type: linkMessages.getLink,
    payload: Buffer.concat([encodeLinkHeader(), encodeLinkName(name), u32(linkAttributes.extMask, noStatistics)]),
  });
  const answer = messages.find(({ type }) => type === linkMessages.newLink);
  if (answer === undefined) throw malformed(`no interface in the answer about the XDP program of ${name}`);
  return parseXdp(parseAttributes(answer.payload.subarray(linkHeaderBytes)));
}

/**
 * `ip link set dev NAME xdpdrv|xdpgeneric`. EBUSY if the interface has a program of this mode, EEXIST if it has one of another
 * mode, EOPNOTSUPP if the driver does not support the mode. The program stays attached until detachXdp().
 */
export async function attachXdp(socket: NetlinkSocket, name: string, how: XdpAttachment): Promise<void> {
  const { program, mode } = how;
  await setXdp(socket, name, {
    tried: `attach XDP program ${program.id} in ${mode} mode to ${name}`,
    attributes: [u32(xdp.fd, program.fd), u32(xdp.flags, flags[mode] | flags.ifNoneExists)],
  });
}

/** `ip link set dev NAME xdpdrv|xdpgeneric off`, but EEXIST if the interface has another program, or none. Linux 5.7. */
export async function detachXdp(socket: NetlinkSocket, name: string, how: XdpAttachment): Promise<void> {
  const { program, mode } = how;
  await setXdp(socket, name, {
    tried: `detach XDP program ${program.id} from ${name}`,
    attributes: [u32(xdp.fd, detached), u32(xdp.flags, flags[mode] | flags.replace), u32(xdp.expectedFd, program.fd)],
  });
}

interface XdpChange {
  readonly tried: string;
  readonly attributes: readonly Buffer[];
}

async function setXdp(socket: NetlinkSocket, name: string, { tried, attributes }: XdpChange): Promise<void> {
  const payload = Buffer.concat([encodeLinkHeader(), encodeLinkName(name), nested(linkAttributes.xdp, attributes)]);
  await socket.request({ tried, type: linkMessages.setLink, payload });
}

function parseXdp(link: readonly Attribute[]): readonly AttachedXdp[] {
  const attributes = findNested(link, linkAttributes.xdp);
  return ids.flatMap(([mode, type]) => {
    const programId = find(attributes, type);
    return programId === undefined ? [] : [{ mode, programId: readU32(programId) }];
  });
}
