// SPDX-License-Identifier: Apache-2.0
/**
 * resolveFamily and requestGeneric implement generic netlink. Families have names, and the kernel assigns their ids at boot
 * (struct genlmsghdr: u8 command, u8 version, u16 reserved).
 * Usage: `const family = await resolveFamily(socket, "devlink")`.
 */
import { malformed, NetlinkError } from "./netlink-error.ts";
import type { NetlinkRequest, NetlinkSocket } from "./netlink-socket.ts";
import { find, parseAttributes, readU16, text, type Attribute } from "./wire/attributes.ts";

/** A family and the socket for its requests. */
export interface GenericFamily {
  readonly socket: NetlinkSocket;
  readonly id: number;
}

/** A request to a family. */
export interface GenericRequest {
  /** As in NetlinkRequest. */
  readonly tried: string;
  readonly command: number;
  readonly attributes: readonly Buffer[];
}

const headerBytes = 4;
const controller = { id: 16, getFamily: 3, familyId: 1, familyName: 2 }; // linux/genetlink.h

/** `genl ctrl get name NAME`. Returns undefined if neither the kernel nor a module that it can load has the family. */
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

/** Sends a request and returns the attributes of each reply. Rejects with NetlinkError. */
export async function requestGeneric(family: GenericFamily, request: GenericRequest): Promise<readonly Attributes[]> {
  return (await family.socket.request(encodeRequest(family, request))).map(attributesOf);
}

/** Sends a request for a list and returns the attributes of each entry. Rejects with NetlinkError. */
export async function dumpGeneric(family: GenericFamily, request: GenericRequest): Promise<readonly Attributes[]> {
  return (await family.socket.dump(encodeRequest(family, request))).map(attributesOf);
}

type Attributes = readonly Attribute[];

function encodeRequest({ id }: GenericFamily, { tried, command, attributes }: GenericRequest): NetlinkRequest {
  const header = Buffer.from([command, 0, 0, 0]);
  return { tried, type: id, payload: Buffer.concat([header, ...attributes]) };
}

function attributesOf({ payload }: Pick<NetlinkRequest, "payload">): Attributes {
  return parseAttributes(payload.subarray(headerBytes));
}
