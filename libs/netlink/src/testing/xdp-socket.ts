// SPDX-License-Identifier: Apache-2.0
/**
 * openXdpSocket opens an AF_XDP socket in copy mode, to test whether packets arrive (Documentation/networking/af_xdp.rst).
 * Usage: `using xsk = openXdpSocket({ ifindex: 3, queue: 0, netns: namespace.path }); xsk.addTo(map.fd); xsk.receive()`.
 */
import koffi from "koffi";
import { callBpf, loadBpfSystem } from "../bpf/bpf-system.ts";
import { encodeRedirectProgram } from "../bpf/redirect-program.ts";
import { loadProgram, type XdpProgram } from "../bpf/xdp-program.ts";
import type { XskMap } from "../bpf/xsk-map.ts";
import { loadLibc } from "../libc.ts";
import { checked } from "../netlink-error.ts";
import { inNetworkNamespace } from "../network-namespace.ts";

export interface XdpSocketOptions {
  readonly ifindex: number;
  readonly queue: number;
  readonly netns: string;
}

export interface XdpSocket extends Disposable {
  /** Writes the socket to an XSK map, at its queue. */
  addTo(mapFd: number): void;
  /** Returns the packets since the last call. */
  receive(): readonly Buffer[];
}

const afXdp = 44;
const solXdp = 283;
const options = { mmapOffsets: 1, rxRing: 2, umemReg: 4, umemFillRing: 5, umemCompletionRing: 6 };
const mapOffsets = { rx: 0n, fill: 0x100000000n };
const bindCopy = 2;
const updateElement = 2; // BPF_MAP_UPDATE_ELEM
const entries = 64;
const frameBytes = 2048;
const [protReadWrite, mapShared, mapPrivateAnonymous] = [3, 1, 0x22];
const offsetFields = 4; // producer, consumer, desc, flags

export function openXdpSocket({ ifindex, queue, netns }: XdpSocketOptions): XdpSocket {
  const libc = loadLibc();
  const library = koffi.load(null);
  const socket: (...args: number[]) => number = library.func("int socket(int, int, int)");
  const bind: (fd: number, address: Buffer, bytes: number) => number = library.func("int bind(int, void *, uint32_t)");
  const setOption: (fd: number, level: number, option: number, value: Buffer, bytes: number) => number = library.func(
    "int setsockopt(int, int, int, void *, uint32_t)",
  );
  const getOption: (fd: number, level: number, option: number, value: Buffer, bytes: Buffer) => number = library.func(
    "int getsockopt(int, int, int, void *, void *)",
  );
  const mmap: (at: null, bytes: number, rights: number, flags: number, fd: number, offset: bigint) => unknown =
    library.func("void *mmap(void *, size_t, int, int, int, int64_t)");
  const map = (bytes: number, flags: number, fd: number, offset: bigint) => {
    const address = mmap(null, bytes, protReadWrite, flags, fd, offset);
    return { address, view: koffi.view(address, bytes) };
  };
  const must = (what: string, result: number) => checked(what, result < 0 ? -koffi.errno() : result);

  const fd = inNetworkNamespace(libc, netns, () => must("open AF_XDP socket", socket(afXdp, 3, 0)));
  const umem = map(entries * frameBytes, mapPrivateAnonymous, -1, 0n);
  // struct xdp_umem_reg: u64 address, u64 length, u32 size of chunks, u32 headroom, u32 flags, u32 length of metadata
  const registration = Buffer.alloc(32);
  registration.writeBigUInt64LE(koffi.address(umem.address), 0);
  registration.writeBigUInt64LE(BigInt(entries * frameBytes), 8);
  registration.writeUInt32LE(frameBytes, 16);
  must("register UMEM", setOption(fd, solXdp, options.umemReg, registration, registration.length));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(entries);
  for (const ring of [options.umemFillRing, options.umemCompletionRing, options.rxRing])
    must("set size of ring", setOption(fd, solXdp, ring, size, 4));

  const offsets = Buffer.alloc(4 * offsetFields * 8); // of rx, tx, fill and completion
  const length = Buffer.alloc(4);
  length.writeUInt32LE(offsets.length);
  must("read offsets of rings", getOption(fd, solXdp, options.mmapOffsets, offsets, length));
  const ring = (place: number, bytes: number, offset: bigint): Ring => {
    const [producer = 0, consumer = 0, start = 0] = [0, 1, 2].map((field) =>
      Number(offsets.readBigUInt64LE(8 * (place * offsetFields + field))),
    );
    const { view } = map(start + entries * bytes, mapShared, fd, offset);
    return {
      producer: new Uint32Array(view, producer, 1),
      consumer: new Uint32Array(view, consumer, 1),
      entries: new BigUint64Array(view, start, (entries * bytes) / 8),
    };
  };
  const rx = ring(0, 16, mapOffsets.rx); // struct xdp_desc: u64 address, u32 length, u32 options
  const fill = ring(2, 8, mapOffsets.fill << 0n);
  for (let frame = 0; frame < entries; frame++) fill.entries[frame] = BigInt(frame * frameBytes);
  Atomics.store(fill.producer, 0, entries);

  // struct sockaddr_xdp: u16 family, u16 flags, u32 index of the interface, u32 queue, u32 descriptor of a shared UMEM
  const address = Buffer.alloc(16);
  address.writeUInt16LE(afXdp, 0);
  address.writeUInt16LE(bindCopy, 2);
  address.writeUInt32LE(ifindex, 4);
  address.writeUInt32LE(queue, 8);
  must("bind AF_XDP socket", bind(fd, address, address.length));

  return {
    addTo(mapFd) {
      const [key, value, attributes] = [Buffer.alloc(4), Buffer.alloc(4), Buffer.alloc(32)];
      key.writeUInt32LE(queue);
      value.writeUInt32LE(fd);
      attributes.writeUInt32LE(mapFd);
      callBpf(loadBpfSystem(), {
        tried: "write AF_XDP socket to XSK map",
        command: updateElement,
        attributes,
        pointers: [
          { offset: 8, bytes: key },
          { offset: 16, bytes: value },
        ],
      });
    },
    receive() {
      const packets: Buffer[] = [];
      for (let at = rx.consumer[0] ?? 0; at !== Atomics.load(rx.producer, 0); at++) {
        const slot = 2 * (at % entries);
        const start = Number(rx.entries[slot] ?? 0n);
        const bytes = Number((rx.entries[slot + 1] ?? 0n) & 0xffffffffn);
        packets.push(Buffer.from(Buffer.from(umem.view, start, bytes)));
        Atomics.store(rx.consumer, 0, at + 1);
      }
      return packets;
    },
    [Symbol.dispose]: () => {
      libc.close(fd);
    },
  };
}

interface Ring {
  readonly producer: Uint32Array;
  readonly consumer: Uint32Array;
  readonly entries: BigUint64Array;
}

/**
 * loadForeignXdpProgram loads an XDP program that passes all packets to the network stack, or to the sockets of a map, under the
 * name of somebody else.
 */
export function loadForeignXdpProgram(name: string, map?: XskMap): Pick<XdpProgram, "fd" | "id"> & Disposable {
  const system = loadBpfSystem();
  const pass = Buffer.from("b7000000020000009500000000000000", "hex"); // r0 = XDP_PASS; exit
  const instructions = map === undefined ? pass : encodeRedirectProgram(map.fd);
  const fd = loadProgram(system, { instructions, name });
  return { fd, id: 0, [Symbol.dispose]: () => void system.close(fd) };
}
