// SPDX-License-Identifier: Apache-2.0
/**
 * SeqpacketSystem is the port for Unix sockets of type SOCK_SEQPACKET, whose messages can pass descriptors to another process
 * (SCM_RIGHTS). Node supports neither. loadSeqpacketSystem() returns the real implementation.
 * Usage: `const fd = checked("listen", system.listen("/run/test.sock"))`.
 */
import koffi from "koffi";
import { loadLibc } from "../libc.ts";

/** The system calls. All return the result or a negative errno, as the kernel does, and none of them waits. */
export interface SeqpacketSystem {
  /** Binds a new socket to the path and listens. -EADDRINUSE if the file exists. */
  listen(path: string): number;
  /** Returns the socket of a connection. -EAGAIN if there is none. */
  accept(fd: number): number;
  /** Connects a new socket. -EAGAIN if the queue of the server is full. */
  connect(path: string): number;
  /** Sends a message, with a duplicate of the descriptor `passed` if it is given. -EPIPE if the peer is gone, without a signal. */
  send(fd: number, message: Buffer, passed?: number): number;
  /**
   * Receives a message into `buffer`. The result is its full length, which exceeds the buffer if it was truncated; 0 at the end
   * of the connection. Descriptors that came with the message are added to `passed` and belong to the caller.
   */
  receive(fd: number, buffer: Buffer, passed: number[]): number;
  /** Sets an option with an int value. */
  setOption(fd: number, level: number, option: number, value: number): number;
  close(fd: number): number;
  /** As Libc.watchReadable. */
  watchReadable(fd: number, onReadable: () => void): () => void;
}

/**
 * loadSeqpacketSystem implements SeqpacketSystem by FFI.
 * Returns the system calls of this process.
 */
export function loadSeqpacketSystem(): SeqpacketSystem {
  loaded ??= bindSeqpacketSystem();
  return loaded;
}

let loaded: SeqpacketSystem | undefined;

// asm-generic/socket.h, linux/socket.h: the same on x86_64 and arm64.
const afUnix = 1;

const sockSeqpacket = 5;

const sockNonblock = 0o4000;

const sockCloexec = 0o2000000;

const solSocket = 1;

const scmRights = 1;

const flags = { dontwait: 0x40, trunc: 0x20, noSignal: 0x4000, closeOnExec: 0x40000000 };

const backlog = 16;

const einval = -22;

/** Space for as many descriptors as a message can have (SCM_MAX_FD), so that none is lost unseen. */
const maxPassed = 253;

const controlHeaderBytes = 16; // struct cmsghdr: size_t length, int level, int type

/** sizeof(sun_path) without the NUL. */
const maxPathBytes = 107;

function bindSeqpacketSystem(): SeqpacketSystem {
  const library = koffi.load(null);
  const socket: (family: number, type: number, protocol: number) => number = library.func("int socket(int, int, int)");
  const bind: (fd: number, address: Buffer, bytes: number) => number = library.func("int bind(int, void *, uint32_t)");
  const connect: typeof bind = library.func("int connect(int, void *, uint32_t)");
  const listen: (fd: number, backlog: number) => number = library.func("int listen(int, int)");
  const accept: (fd: number, address: null, bytes: null, flags: number) => number = library.func(
    "int accept4(int, void *, void *, int)",
  );
  const sendmsg: (fd: number, message: Buffer, flags: number) => number = library.func(
    "intptr_t sendmsg(int, void *, int)",
  );
  const recvmsg: typeof sendmsg = library.func("intptr_t recvmsg(int, void *, int)");
  const setsockopt: (fd: number, level: number, option: number, value: Buffer, bytes: number) => number = library.func(
    "int setsockopt(int, int, int, void *, uint32_t)",
  );
  const libc = loadLibc();

  function open(path: string, use: (fd: number, address: Buffer) => number): number {
    if (path === "" || path.includes("\0") || Buffer.byteLength(path) > maxPathBytes) return einval;
    const fd = orErrno(socket(afUnix, sockSeqpacket | sockCloexec | sockNonblock, 0));
    if (fd < 0) return fd;
    // struct sockaddr_un: u16 family, the path, NUL
    const result = use(fd, Buffer.concat([Buffer.of(afUnix, 0), Buffer.from(`${path}\0`)]));
    if (result >= 0) return fd;
    libc.close(fd);
    return result;
  }

  return {
    listen: (path) =>
      open(path, (fd, address) => {
        const bound = orErrno(bind(fd, address, address.length));
        return bound < 0 ? bound : orErrno(listen(fd, backlog));
      }),
    connect: (path) => open(path, (fd, address) => orErrno(connect(fd, address, address.length))),
    accept: (fd) => orErrno(accept(fd, null, null, sockCloexec | sockNonblock)),
    send(fd, message, passed) {
      const control = passed === undefined ? Buffer.alloc(0) : encodeRights(passed);
      const header = encodeHeader(message, control);
      return whileInUse([message, control], () => orErrno(sendmsg(fd, header, flags.dontwait | flags.noSignal)));
    },
    receive(fd, buffer, passed) {
      const control = Buffer.alloc(controlHeaderBytes + 4 * maxPassed + 4);
      const header = encodeHeader(buffer, control);
      const how = flags.dontwait | flags.trunc | flags.closeOnExec;
      const result = whileInUse([buffer, control], () => orErrno(recvmsg(fd, header, how)));
      if (result >= 0) passed.push(...parseRights(control.subarray(0, Number(header.readBigUInt64LE(40)))));
      return result;
    },
    setOption(fd, level, option, value) {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32LE(value);
      return orErrno(setsockopt(fd, level, option, bytes, bytes.length));
    },
    close: (fd) => libc.close(fd),
    watchReadable: (fd, onReadable) => libc.watchReadable(fd, onReadable),
  };
}

/**
 * struct msghdr: u64 address, u32 length and padding, u64 address and u64 number of the parts, u64 address and u64
 * length of the control data, i32 flags and padding. Its only part follows, a struct iovec: u64 address, u64 length.
 */
function encodeHeader(data: Buffer, control: Buffer): Buffer {
  const header = Buffer.alloc(56 + 16);
  header.writeBigUInt64LE(koffi.address(header) + 56n, 16);
  header.writeBigUInt64LE(1n, 24);
  if (control.length > 0) header.writeBigUInt64LE(koffi.address(control), 32);
  header.writeBigUInt64LE(BigInt(control.length), 40);
  if (data.length > 0) header.writeBigUInt64LE(koffi.address(data), 56);
  header.writeBigUInt64LE(BigInt(data.length), 64);
  return header;
}

function encodeRights(fd: number): Buffer {
  const control = Buffer.alloc(controlHeaderBytes + 8); // padded to 8 bytes
  control.writeBigUInt64LE(BigInt(controlHeaderBytes + 4), 0);
  control.writeInt32LE(solSocket, 8);
  control.writeInt32LE(scmRights, 12);
  control.writeInt32LE(fd, controlHeaderBytes);
  return control;
}

function parseRights(control: Buffer): readonly number[] {
  const passed: number[] = [];
  for (let at = 0; at + controlHeaderBytes <= control.length;) {
    const length = Number(control.readBigUInt64LE(at));
    if (length < controlHeaderBytes || at + length > control.length) break;
    if (control.readInt32LE(at + 8) === solSocket && control.readInt32LE(at + 12) === scmRights) {
      for (let fd = at + controlHeaderBytes; fd + 4 <= at + length; fd += 4) passed.push(control.readInt32LE(fd));
    }
    at += (length + 7) & ~7;
  }
  return passed;
}

// Buffers whose addresses are in a header, which the garbage collector does not know.
const inUse = new Set<Buffer>();

function whileInUse<Result>(buffers: readonly Buffer[], call: () => Result): Result {
  for (const buffer of buffers) inUse.add(buffer);
  try {
    return call();
  } finally {
    for (const buffer of buffers) inUse.delete(buffer);
  }
}

function orErrno(result: number): number {
  return result < 0 ? -koffi.errno() : result;
}
