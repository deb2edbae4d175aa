// SPDX-License-Identifier: Apache-2.0
/**
 * Libc is the port for system calls that netlink needs and Node lacks. All return the result or a negative errno, as the
 * kernel does. loadLibc() returns the real implementation; tests can use a fake.
 */

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
