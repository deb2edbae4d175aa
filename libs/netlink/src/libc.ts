// SPDX-License-Identifier: Apache-2.0
/**
 * Port: the few system calls that netlink needs and Node lacks. All give the result or the negative errno, as the kernel itself does.
 * `loadLibc()` is the real one; a test can answer for the kernel instead.
 */

/** System calls on netlink sockets, network namespaces and locks of files. */
export interface Libc {
  /** A new AF_NETLINK socket, closed on exec. */
  socket(protocol: number): number;
  /** Gives the socket an address and joins the multicast groups of the bit mask. */
  bind(fd: number, groups: number): number;
  /** Sets an option whose value is an int. */
  setsockopt(fd: number, level: number, option: number, value: number): number;
  close(fd: number): number;
  /** Moves the calling thread, the one that runs JavaScript, into the network namespace open at `fd`. */
  setns(fd: number): number;
  /** Takes the exclusive lock of the open file, without waiting (flock(2)): -EAGAIN while another open file has it. */
  flock(fd: number): number;
  /** Holds a thread of libuv's pool while the kernel works on the message, which can take seconds. */
  send(fd: number, message: Buffer): Promise<number>;
  /**
   * Never waits for a message, but holds a thread of libuv's pool while the kernel prepares the next part of a dump.
   * The datagram's full length, more than the buffer's where it was cut.
   */
  recv(fd: number, buffer: Buffer): Promise<number>;
  /** As recv, at once and on this thread, for sockets without requests. `sender` gets a struct sockaddr_nl. */
  recvfrom(fd: number, buffer: Buffer, sender: Buffer): number;
  /** Calls `onReadable` from the event loop while there is something to read, or an error; the result ends that. */
  watchReadable(fd: number, onReadable: () => void): () => void;
}

/** NETLINK_* protocols (linux/netlink.h). */
export const protocols = { route: 0, kobjectUevent: 15, generic: 16, rdma: 20 } as const;

/** sizeof(struct sockaddr_nl): u16 family, u16 padding, u32 port id, u32 groups. */
export const addressBytes = 12;
