// SPDX-License-Identifier: Apache-2.0
/**
 * Generic netlink: families with names, whose ids the kernel gives at boot (struct genlmsghdr: u8 command, u8 version,
 * u16 reserved). Usage: `const family = await resolveFamily(socket, "devlink")`.
 */
import { malformed, NetlinkError } from "./netlink-error.ts";
import type { NetlinkSocket } from "./netlink-socket.ts";
import { find, parseAttributes, readU16, text, type Attribute } from "./wire/attributes.ts";

/** A family, and the socket to ask it on. */
export interface GenericFamily {
  readonly socket: NetlinkSocket;
  readonly id: number;
}

/** One question to a family. */
export interface GenericRequest {
  /** As in NetlinkRequest. */
  readonly tried: string;
  readonly command: number;
  readonly attributes: readonly Buffer[];
}

const headerBytes = 4;
const controller = { id: 16, getFamily: 3, familyId: 1, familyName: 2 }; // linux/genetlink.h

/** `genl ctrl get name NAME`. Undefined where the kernel has no such family, nor a module that brings it. */
export async function resolveFamily(socket: NetlinkSocket, name: string): Promise<GenericFamily | undefined> {
  try {
    const [answer] = await requestGeneric(
      { socket, id: controller.id },
      {
        tried: `resolve netlink family ${name}`,
        command: controller.getFamily,
        attributes: [text(controller.familyName, name)],
      },
    );
    const id = find(answer ?? [], controller.familyId);
    if (id === undefined) throw malformed("family without id");
    return { socket, id: readU16(id) };
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Asks the family; the attributes of each answer. Rejects with NetlinkError. */
export async function requestGeneric(
  { socket, id }: GenericFamily,
  { tried, command, attributes }: GenericRequest,
): Promise<readonly (readonly Attribute[])[]> {
  const header = Buffer.from([command, 0, 0, 0]);
  const answers = await socket.request({ tried, type: id, payload: Buffer.concat([header, ...attributes]) });
  return answers.map(({ payload }) => parseAttributes(payload.subarray(headerBytes)));
}

/** Lists what the family has: the attributes of each answer of a dump. Rejects with NetlinkError. */
export async function requestGenericDump(
  { socket, id }: GenericFamily,
  { tried, command, attributes }: GenericRequest,
): Promise<readonly (readonly Attribute[])[]> {
  const header = Buffer.from([command, 0, 0, 0]);
  const answers = await socket.dump({ tried, type: id, payload: Buffer.concat([header, ...attributes]) });
  return answers.map(({ payload }) => parseAttributes(payload.subarray(headerBytes)));
}
