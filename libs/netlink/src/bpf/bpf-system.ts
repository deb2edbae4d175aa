// SPDX-License-Identifier: Apache-2.0
/**
 * BpfSystem is the port for bpf(2), by which programs and maps are created in the kernel. loadBpfSystem() returns the real
 * implementation; callBpf() makes one call.
 */
import koffi from "koffi";
import { checked, NetlinkError } from "../netlink-error.ts";

/** The system calls for BPF. All return the result or a negative errno, as the kernel does. */
export interface BpfSystem {
  /** bpf(2): `attributes` is a union bpf_attr, which the kernel also writes to. A new descriptor is closed on exec. */
  bpf(command: number, attributes: Buffer): number;
  /** Address of the buffer's memory, for pointers in `attributes`. */
  addressOf(bytes: Buffer): bigint;
  close(fd: number): number;
}

/** BPF_*: the commands in use (enum bpf_cmd, linux/bpf.h). */
export const bpfCommands = {
  createMap: 0,
  loadProgram: 5,
  pin: 6,
  openPinned: 7,
  programById: 13,
  mapById: 14,
  readInfo: 15,
  linkById: 30,
  nextLink: 31,
} as const;

/** Longest name of a program or map: BPF_OBJ_NAME_LEN without the NUL. */
export const maxBpfNameBytes = 15;

/** One call of bpf(2). */
export interface BpfCall {
  /** As in NetlinkRequest. */
  readonly tried: string;
  readonly command: number;
  /** A union bpf_attr. */
  readonly attributes: Buffer;
  readonly pointers?: readonly BpfPointer[];
}

/** Memory whose address is written at `offset` of `attributes`, or of the memory `into`. */
export interface BpfPointer {
  readonly offset: number;
  readonly bytes: Buffer;
  readonly into?: Buffer;
}

/** Makes the call and returns its result. Throws NetlinkError: EPERM without CAP_BPF and CAP_NET_ADMIN. */
export function callBpf(system: BpfSystem, { tried, command, attributes, pointers = [] }: BpfCall): number {
  for (const { offset, bytes, into = attributes } of pointers) {
    inUse.add(bytes);
    into.writeBigUInt64LE(system.addressOf(bytes), offset);
  }
  try {
    return checked(tried, system.bpf(command, attributes));
  } finally {
    for (const { bytes } of pointers) inUse.delete(bytes);
  }
}

/** The garbage collector does not know the pointers in `attributes`. */
const inUse = new Set<Buffer>();

/**
 * loadBpfSystem implements BpfSystem by FFI. The C library has no function for bpf(2), so its number is needed.
 * Returns the system calls of this process. Throws NetlinkError ENOSYS on a processor other than x86_64 and arm64.
 */
export function loadBpfSystem(): BpfSystem {
  loaded ??= bindBpfSystem();
  return loaded;
}

let loaded: BpfSystem | undefined;

/** __NR_bpf by the name that Node gives the processor. */
const callNumbers: Readonly<Partial<Record<NodeJS.Architecture, number>>> = { x64: 321, arm64: 280 };

function bindBpfSystem(): BpfSystem {
  const number = callNumbers[process.arch];
  if (number === undefined) throw new NetlinkError("call bpf(2)", "ENOSYS", `not supported on ${process.arch}`);
  const library = koffi.load(null);
  const syscall: (number: number, command: number, attributes: Buffer, bytes: number) => number = library.func(
    "long syscall(long, int, void *, uint32_t)",
  );
  const close: (fd: number) => number = library.func("int close(int)");
  return {
    bpf: (command, attributes) => orErrno(syscall(number, command, attributes, attributes.length)),
    addressOf: (bytes) => koffi.address(bytes),
    close: (fd) => orErrno(close(fd)),
  };
}

function orErrno(result: number): number {
  return result < 0 ? -koffi.errno() : result;
}
