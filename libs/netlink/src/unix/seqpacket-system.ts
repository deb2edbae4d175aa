// SPDX-License-Identifier: Apache-2.0
/**
 * SeqpacketSystem is the port for Unix sockets of type SOCK_SEQPACKET, whose messages can pass descriptors to another process
 * (SCM_RIGHTS). Node supports neither. loadSeqpacketSystem() returns the real implementation.
 * Usage: `const fd = checked("listen", system.listen("/run/test.sock"))`.
 */

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
