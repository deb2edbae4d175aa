// SPDX-License-Identifier: Apache-2.0
/**
 * loadRedirectProgram loads the XDP program that gives packets to AF_XDP sockets; readXdpProgram describes a program that is
 * attached to an interface.
 * Usage: `using program = loadRedirectProgram(map); await attachXdp(socket, "ens1f0", { program, mode: "native" })`.
 */
import { NetlinkError } from "../netlink-error.ts";
import { readText } from "../wire/attributes.ts";
import { BpfObject, openById, readObjectInfo, readObjectName } from "./bpf-object.ts";
import { bpfCommands, callBpf, loadBpfSystem, maxBpfNameBytes, type BpfSystem } from "./bpf-system.ts";
import { encodeRedirectProgram } from "./redirect-program.ts";
import { createXskMap, type XskMap } from "./xsk-map.ts";

/** An open program. */
export interface XdpProgram extends Disposable {
  readonly fd: number;
  readonly id: number;
  /** At most 15 bytes: "xdp_dispatcher" is that of libxdp. */
  readonly name: string;
  /** Hash of the instructions without the descriptors of maps, 16 hexadecimal digits. Another kernel can have another hash. */
  readonly tag: string;
  /** Ids of the maps that it uses, at most 64. */
  readonly mapIds: readonly number[];
}

const xdpProgramType = 6; // BPF_PROG_TYPE_XDP
const instructionBytes = 8;
const verifierCodes = ["EACCES", "EINVAL"]; // the errors whose reason is in the log
const maxAttempts = 5; // a signal that is pending makes the verifier stop with EAGAIN (6.18)
const logBytes = 64 << 10;
const maxLogCharacters = 500;
const infoBytes = 80; // struct bpf_prog_info up to its name
const maxMaps = 64; // MAX_USED_MAPS

/** The program calls no function that requires the GPL. */
export const programLicense = "Apache-2.0";

/** Name of the program. Whoever may load programs can give it to another one: see isRedirectProgram. */
const redirectProgramName = "switchyard_xsk";

/**
 * Loads the program for this map. Throws NetlinkError: EPERM without the rights, otherwise with the end of the verifier's log.
 * The program ends when it is closed, unless it is attached to an interface.
 * It accepts packets in several buffers, without which drivers refuse an MTU above about 3,500. Kernels before 5.18 do not know
 * such programs, and get one without.
 */
export function loadRedirectProgram(map: XskMap, system: BpfSystem = loadBpfSystem()): XdpProgram {
  const program = { instructions: encodeRedirectProgram(map.fd), name: redirectProgramName };
  return describe(system, new BpfObject(system, loadWithFragments(system, program)));
}

function loadWithFragments(system: BpfSystem, program: NewXdpProgram): number {
  try {
    return loadProgram(system, { ...program, hasFragments: true });
  } catch (error) {
    if (!(error instanceof NetlinkError) || error.code !== "EINVAL") throw error;
    return loadProgram(system, program);
  }
}

let redirectTag: string | undefined;

/**
 * Reports whether the program has the name and the instructions of ours. Its map can be anybody's: whoever loads the same
 * instructions chooses it. Throws NetlinkError: EPERM without the rights.
 */
export function isRedirectProgram({ name, tag }: Pick<XdpProgram, "name" | "tag">): boolean {
  if (name !== redirectProgramName) return false;
  redirectTag ??= loadedTag(); // only the kernel can say it: its hash function has changed
  return tag === redirectTag;
}

function loadedTag(): string {
  using map = createXskMap({ queues: 1 });
  using program = loadRedirectProgram(map);
  return program.tag;
}

/** Opens a program by its id. Throws NetlinkError: ENOENT if there is no such program. */
export function openXdpProgram(id: number, system: BpfSystem = loadBpfSystem()): XdpProgram {
  return describe(system, openById(system, "program", id));
}

/** A program to load. */
export interface NewXdpProgram {
  /** Instructions of eight bytes. */
  readonly instructions: Buffer;
  readonly name: string;
  /** Whether it accepts packets in several buffers (BPF_F_XDP_HAS_FRAGS, Linux 5.18). */
  readonly hasFragments?: boolean;
}

/** BPF_F_XDP_HAS_FRAGS. */
const fragmentsFlag = 1 << 5;

/** Returns the descriptor. Loads again with a log if the kernel refuses the program, since the log takes time. */
export function loadProgram(system: BpfSystem, { instructions, name, hasFragments = false }: NewXdpProgram): number {
  const attributes = Buffer.alloc(72);
  attributes.writeUInt32LE(xdpProgramType, 0);
  attributes.writeUInt32LE(instructions.length / instructionBytes, 4);
  if (hasFragments) attributes.writeUInt32LE(fragmentsFlag, 44);
  attributes.write(name, 48, maxBpfNameBytes);
  const pointers = [
    { offset: 8, bytes: instructions },
    { offset: 16, bytes: Buffer.from(`${programLicense}\0`) },
  ];
  const call = { tried: `load XDP program ${name}`, command: bpfCommands.loadProgram, attributes };
  for (let attempts = 1; ; attempts++) {
    try {
      return callBpf(system, { ...call, pointers });
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      if (verifierCodes.includes(error.code)) break;
      if (error.code !== "EAGAIN" || attempts === maxAttempts) throw error;
    }
  }
  const log = Buffer.alloc(logBytes);
  attributes.writeUInt32LE(1, 24); // the level of the log
  attributes.writeUInt32LE(log.length, 28);
  try {
    return callBpf(system, { ...call, pointers: [...pointers, { offset: 32, bytes: log }] });
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    const words = readText(log).trim().slice(-maxLogCharacters);
    throw new NetlinkError(error.tried, error.code, words === "" ? error.words : words);
  }
}

function describe(system: BpfSystem, object: BpfObject): XdpProgram {
  try {
    const maps = Buffer.alloc(4 * maxMaps);
    // u32 type, u32 id, 8 bytes of the tag, ..., u32 number of maps at 52, u64 address for their ids, the name
    const info = Buffer.alloc(infoBytes);
    info.writeUInt32LE(maxMaps, 52);
    readObjectInfo(system, object, { info, list: { offset: 56, bytes: maps } });
    const count = Math.min(info.readUInt32LE(52), maxMaps);
    const close = () => {
      object[Symbol.dispose]();
    };
    return {
      fd: object.fd,
      id: info.readUInt32LE(4),
      name: readObjectName(info, 64),
      tag: info.toString("hex", 8, 16),
      mapIds: Array.from({ length: count }, (_, at) => maps.readUInt32LE(4 * at)),
      [Symbol.dispose]: close,
    };
  } catch (error) {
    object[Symbol.dispose]();
    throw error;
  }
}
