// SPDX-License-Identifier: Apache-2.0
/**
 * Libc is the port for system calls that netlink needs and Node lacks. All return the result or a negative errno, as the
 * kernel does. loadLibc() returns the real implementation; tests can use a fake.
 */
import koffi from "koffi";
import { checked, NetlinkError } from "./netlink-error.ts";

/** System calls for netlink sockets, sockets of udev, network namespaces and file locks. */
export interface Libc {
  /** Opens an AF_NETLINK socket that is closed on exec. */
  socket(protocol: number): number;
  /** Opens an AF_UNIX socket of type SOCK_SEQPACKET and connects it. Does not wait: -EAGAIN if the server is busy. */
  connectSeqpacket(path: string): number;
  /** Binds the socket and joins the multicast groups of the bit mask. */
  bind(fd: number, groups: number): number;
  /** Sets an option with an int value. */
  setsockopt(fd: number, level: number, option: number, value: number): number;
  close(fd: number): number;
  /** Moves the calling thread, which runs JavaScript, into the network namespace of `fd`. */
  setns(fd: number): number;
  /** Takes the exclusive lock of the open file without waiting (flock(2)); -EAGAIN if another open file has it. */
  flock(fd: number): number;
  /** Occupies a thread of libuv's pool while the kernel handles the message, which can take seconds. */
  send(fd: number, message: Buffer): Promise<number>;
  /**
   * Does not wait for a message, but occupies a thread of libuv's pool while the kernel prepares the next part of a dump.
   * Resolves with the full length of the datagram, which exceeds the buffer if the datagram was truncated.
   */
  recv(fd: number, buffer: Buffer): Promise<number>;
  /** Like recv, but synchronous and for sockets on which no dump runs. Writes a struct sockaddr_nl to `sender`. */
  recvfrom(fd: number, buffer: Buffer, sender: Buffer): number;
  /** Calls `onReadable` from the event loop when there is a message or an error. Returns a function that ends this. */
  watchReadable(fd: number, onReadable: () => void): () => void;
}

/** NETLINK_* protocols (linux/netlink.h). */
export const protocols = { route: 0, sockDiag: 4, kobjectUevent: 15, generic: 16, rdma: 20 } as const;

/** sizeof(struct sockaddr_nl): u16 family, u16 padding, u32 port id, u32 groups. */
export const addressBytes = 12;

/**
 * loadLibc implements Libc by FFI with koffi (3.3.4).
 * Returns the C library of this process, glibc or musl.
 */
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

/**
 * tryFileLock takes the lock of an open file (flock(2)). The kernel releases it when the file is closed or the process ends.
 * Returns true if this file has the lock now, false if another open file has it. Throws NetlinkError: EBADF, ENOLCK.
 */
export function tryFileLock(fd: number, libc: Libc = loadLibc()): boolean {
  try {
    checked("lock the file", libc.flock(fd));
    return true;
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "EAGAIN") return false;
    throw error;
  }
}
