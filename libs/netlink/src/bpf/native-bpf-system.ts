// SPDX-License-Identifier: Apache-2.0
/**
 * loadBpfSystem implements BpfSystem by FFI. The C library has no function for bpf(2), so its number is needed.
 * Usage: `const system = loadBpfSystem()`.
 */
import koffi from "koffi";
import { NetlinkError } from "../netlink-error.ts";
import type { BpfSystem } from "./bpf-system.ts";

/** Returns the system calls of this process. Throws NetlinkError ENOSYS on a processor other than x86_64 and arm64. */
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
