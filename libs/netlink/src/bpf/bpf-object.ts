// SPDX-License-Identifier: Apache-2.0
/**
 * BpfObject is an open descriptor of a BPF program, map or link. The object exists in the kernel as long as something refers to it: a
 * descriptor, a network interface, a program that uses the map, or a file in a BPF file system.
 */
import { malformed } from "../netlink-error.ts";
import { readText } from "../wire/attributes.ts";
import { bpfCommands, callBpf, type BpfPointer, type BpfSystem } from "./bpf-system.ts";

export class BpfObject implements Disposable {
  /** For system calls and for passing to other processes. Invalid after the disposal. */
  readonly fd: number;
  readonly #system: BpfSystem;
  #isOpen = true;

  constructor(system: BpfSystem, fd: number) {
    this.#system = system;
    this.fd = fd;
  }

  /** Closes the descriptor. The object stays in the kernel if something else refers to it. */
  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#system.close(this.fd);
  }
}

const openCommands = {
  program: bpfCommands.programById,
  map: bpfCommands.mapById,
  link: bpfCommands.linkById,
};

/** Opens a program, map or link by its id. Throws NetlinkError: ENOENT if it does not exist, EPERM without CAP_SYS_ADMIN. */
export function openById(system: BpfSystem, kind: keyof typeof openCommands, id: number): BpfObject {
  const attributes = Buffer.alloc(12); // u32 id, u32 next id, u32 flags
  attributes.writeUInt32LE(id, 0);
  const command = openCommands[kind];
  return new BpfObject(system, callBpf(system, { tried: `open BPF ${kind} ${id}`, command, attributes }));
}

/**
 * Fills in the description of an object: a struct bpf_prog_info or bpf_map_info, which can point to more memory. A kernel with
 * a shorter struct leaves the rest zero.
 */
export function readObjectInfo(
  system: BpfSystem,
  { fd }: BpfObject,
  { info, list }: { readonly info: Buffer; readonly list?: Omit<BpfPointer, "into"> },
): void {
  const attributes = Buffer.alloc(16); // u32 fd, u32 length, u64 address
  attributes.writeUInt32LE(fd, 0);
  attributes.writeUInt32LE(info.length, 4);
  callBpf(system, {
    tried: "read description of BPF object",
    command: bpfCommands.readInfo,
    attributes,
    pointers: [{ offset: 8, bytes: info }, ...(list === undefined ? [] : [{ ...list, into: info }])],
  });
}

/** Reads the name in a description: 16 bytes that end with a NUL. */
export function readObjectName(info: Buffer, offset: number): string {
  if (info.length < offset + 16) throw malformed(`BPF description of ${info.length} bytes`);
  return readText(info.subarray(offset, offset + 16));
}
