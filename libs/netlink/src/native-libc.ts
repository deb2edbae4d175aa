// SPDX-License-Identifier: Apache-2.0
/**
 * loadLibc implements Libc by FFI with koffi (3.3.4).
 * Usage: `const libc = loadLibc()`.
 *
 * A request occupies a thread of libuv's pool while the kernel handles it. Waiting for events needs no thread:
 * koffi.node.poll uses libuv's poll on the descriptor. A blocking recv() or poll() in the pool would occupy a thread
 * forever, and process.exit() would hang until the call returns, since exit() joins the pool.
 */
import koffi from "koffi";
import { addressBytes, type Libc } from "./libc.ts";

/** Returns the C library of this process, glibc or musl. */
export function loadLibc(): Libc {
  loaded ??= bindLibc();
  return loaded;
}

let loaded: Libc | undefined;

// asm-generic/socket.h, linux/netlink.h, linux/sched.h, asm-generic/fcntl.h: the same on x86_64 and arm64.
const afUnix = 1;
const afNetlink = 16;
const sockRaw = 3;
const sockSeqpacket = 5;
const sockNonblock = 0o4000;
const sockCloexec = 0o2000000;
const msgDontwait = 0x40;
const msgTrunc = 0x20;
const cloneNewnet = 0x40000000;
const lockExclusive = 2;
const lockNonBlocking = 4;

function bindLibc(): Libc {
  const library = koffi.load(null);
  const socket: SystemCall<[number, number, number]> = library.func("int socket(int, int, int)");
  const bind: SystemCall<[number, Buffer, number]> = library.func("int bind(int, void *, uint32_t)");
  const connect: SystemCall<[number, Buffer, number]> = library.func("int connect(int, void *, uint32_t)");
  const setsockopt: SystemCall<[number, number, number, Buffer, number]> = library.func(
    "int setsockopt(int, int, int, void *, uint32_t)",
  );
  const close: SystemCall<[number]> = library.func("int close(int)");
  const setns: SystemCall<[number, number]> = library.func("int setns(int, int)");
  const flock: SystemCall<[number, number]> = library.func("int flock(int, int)");
  const recvfrom: SystemCall<[number, Buffer, number, number, Buffer, Buffer]> = library.func(
    "intptr_t recvfrom(int, void *, size_t, int, void *, void *)",
  );
  const send: AsyncSystemCall = library.func("intptr_t send(int, void *, size_t, int)");
  const recv: AsyncSystemCall = library.func("intptr_t recv(int, void *, size_t, int)");

  return {
    socket: (protocol) => orErrno(socket(afNetlink, sockRaw | sockCloexec, protocol)),
    connectSeqpacket(path) {
      // struct sockaddr_un: u16 family, the path, NUL
      const address = Buffer.concat([Buffer.of(afUnix, 0), Buffer.from(`${path}\0`)]);
      const fd = orErrno(socket(afUnix, sockSeqpacket | sockCloexec | sockNonblock, 0));
      if (fd < 0) return fd;
      const result = orErrno(connect(fd, address, address.length));
      if (result === 0) return fd;
      close(fd);
      return result;
    },
    bind(fd, groups) {
      const address = Buffer.alloc(addressBytes);
      address.writeUInt16LE(afNetlink, 0);
      address.writeUInt32LE(groups, 8);
      return orErrno(bind(fd, address, addressBytes));
    },
    setsockopt: (fd, level, option, value) => orErrno(setsockopt(fd, level, option, int(value), 4)),
    close: (fd) => orErrno(close(fd)),
    setns: (fd) => orErrno(setns(fd, cloneNewnet)),
    flock: (fd) => orErrno(flock(fd, lockExclusive | lockNonBlocking)),
    send: (fd, message) => onThreadPool(send, fd, message, 0),
    recv: (fd, buffer) => onThreadPool(recv, fd, buffer, msgDontwait | msgTrunc),
    recvfrom: (fd, buffer, sender) =>
      orErrno(recvfrom(fd, buffer, buffer.length, msgDontwait | msgTrunc, sender, int(sender.length))),
    watchReadable,
  };
}

type SystemCall<Args extends unknown[]> = (...args: Args) => number;

interface AsyncSystemCall {
  async(
    fd: number,
    bytes: Buffer,
    length: number,
    flags: number,
    done: (error: Error | null, result: number) => void,
  ): void;
}

function orErrno(result: number): number {
  return result < 0 ? -koffi.errno() : result;
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

// Buffers that the kernel uses on other threads. koffi does not protect them from the garbage collector.
const inUse = new Set<Buffer>();

function onThreadPool(call: AsyncSystemCall, fd: number, bytes: Buffer, flags: number): Promise<number> {
  return new Promise((resolve, reject) => {
    inUse.add(bytes);
    call.async(fd, bytes, bytes.length, flags, (error, result) => {
      inUse.delete(bytes);
      if (error) reject(error);
      else resolve(orErrno(result)); // koffi restores the pool thread's errno for this callback
    });
  });
}

function watchReadable(fd: number, onReadable: () => void): () => void {
  let drain: NodeJS.Immediate | undefined;

  // koffi declares one parameter but passes two: libuv's status and the events (3.3.4, uv.cc).
  function wake(status: unknown): void {
    // On POLLERR, which a netlink socket reports for lost messages, libuv stops the handle.
    if (status !== 0) handle.start({ readable: true }, wake);
    // koffi calls outside of Node's callback scope, so callbacks of promises would wait for another event.
    drain ??= setImmediate(() => {
      drain = undefined;
      onReadable();
    });
  }

  const handle = koffi.node.poll(fd, { readable: true }, wake);
  return () => {
    clearImmediate(drain);
    handle.close();
  };
}
