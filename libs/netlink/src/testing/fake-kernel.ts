// SPDX-License-Identifier: Apache-2.0
/**
 * The other end of netlink sockets, for what a real kernel cannot be made to do in a test: devlink without hardware, lost
 * messages, answers that never come. Usage: `new NetlinkSocket({ protocol: 0, libc: createFakeKernel(respond) })`.
 */
import { constants } from "node:os";
import type { Libc } from "../libc.ts";
import { parseMessages, type Message } from "../wire/message.ts";

/** The datagrams that answer a request; a negative errno is what recv() gives in place of one. */
export type Respond = (request: Message) => readonly (Buffer | number)[] | Promise<readonly (Buffer | number)[]>;

export interface FakeKernel extends Libc {
  /** All requests so far. */
  readonly requests: readonly Message[];
  /** The descriptors that are open. */
  readonly open: ReadonlySet<number>;
  /** Sends to all who listen; a negative errno as for Respond. `port` is the sender's, the kernel's own being 0. */
  emit(datagram: Buffer | number, port?: number): void;
}

export function createFakeKernel(respond: Respond = () => []): FakeKernel {
  const requests: Message[] = [];
  const queues = new Map<number, Queued[]>();
  const readers = new Map<number, () => void>();
  const open = new Set<number>();
  let nextFd = 1000;

  function take(fd: number, buffer: Buffer): { result: number; port: number } {
    const { datagram, port } = queues.get(fd)?.shift() ?? { datagram: -constants.errno.EAGAIN, port: 0 };
    if (typeof datagram === "number") return { result: datagram, port };
    datagram.copy(buffer);
    return { result: datagram.length, port };
  }

  return {
    requests,
    open,
    emit(datagram, port = 0) {
      for (const [fd, wake] of readers) {
        queues.get(fd)?.push({ datagram, port });
        wake();
      }
    },
    socket() {
      const fd = nextFd++;
      open.add(fd);
      queues.set(fd, []);
      return fd;
    },
    bind: () => 0,
    setsockopt: () => 0,
    setns: () => 0,
    close: (fd) => (open.delete(fd) ? 0 : -constants.errno.EBADF),
    async send(fd, message) {
      for (const request of parseMessages(message)) {
        requests.push(request);
        for (const datagram of await respond(request)) queues.get(fd)?.push({ datagram, port: 0 });
      }
      return message.length;
    },
    recv: (fd, buffer) => Promise.resolve(take(fd, buffer).result),
    recvfrom(fd, buffer, sender) {
      const { result, port } = take(fd, buffer);
      sender.writeUInt32LE(port, 4);
      return result;
    },
    watchReadable(fd, onReadable) {
      readers.set(fd, onReadable);
      return () => readers.delete(fd);
    },
  };
}

interface Queued {
  readonly datagram: Buffer | number;
  readonly port: number;
}
