// SPDX-License-Identifier: Apache-2.0
/**
 * listExtensions returns the programs that replace functions of another program. So loaders such as bpfman and libxdp run several
 * XDP programs on one interface: the interface has a dispatcher, whose functions the programs replace (Linux 5.10).
 * Usage: `listExtensions().filter(({ targetId }) => targetId === attached.programId)`.
 */
import { NetlinkError } from "../netlink-error.ts";
import { openById, readObjectInfo } from "./bpf-object.ts";
import { bpfCommands, callBpf, loadBpfSystem, type BpfSystem } from "./bpf-system.ts";

/** An extension of a program, by the ids of both. */
export interface ProgramExtension {
  readonly programId: number;
  readonly targetId: number;
}

const tracingLink = 2; // BPF_LINK_TYPE_TRACING, which the links of extensions have, too
const infoBytes = 32; // struct bpf_link_info up to the end of its member tracing

/** Returns the extensions in the whole kernel. Throws NetlinkError: EPERM without CAP_SYS_ADMIN. */
export function listExtensions(system: BpfSystem = loadBpfSystem()): readonly ProgramExtension[] {
  const found: ProgramExtension[] = [];
  for (let id = nextLink(system, 0); id !== undefined; id = nextLink(system, id)) {
    const extension = readExtension(system, id);
    if (extension !== undefined) found.push(extension);
  }
  return found;
}

function nextLink(system: BpfSystem, id: number): number | undefined {
  const attributes = Buffer.alloc(12); // u32 id, u32 next id, u32 flags
  attributes.writeUInt32LE(id, 0);
  try {
    callBpf(system, { tried: `find BPF link after ${id}`, command: bpfCommands.nextLink, attributes });
    return attributes.readUInt32LE(4);
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns undefined for another kind of link, and if the link has just gone. */
function readExtension(system: BpfSystem, id: number): ProgramExtension | undefined {
  try {
    using link = openById(system, "link", id);
    const info = Buffer.alloc(infoBytes); // u32 type, id, program, padding, attach type, target program
    readObjectInfo(system, link, { info });
    if (info.readUInt32LE(0) !== tracingLink) return undefined;
    return { programId: info.readUInt32LE(8), targetId: info.readUInt32LE(20) };
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "ENOENT") return undefined;
    throw error;
  }
}
