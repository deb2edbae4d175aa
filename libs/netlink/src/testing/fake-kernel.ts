// SPDX-License-Identifier: Apache-2.0
/**
 * createFakeKernel makes a kernel for netlink sockets in tests. It simulates situations that a test cannot cause in a real
 * kernel: devlink without hardware, lost messages, and missing responses.
 * Usage: `new NetlinkSocket({ protocol: 0, libc: createFakeKernel(respond) })`.
 */
import { constants } from "node:os";
import type { Libc } from "../libc.ts";
import { text } from "../wire/attributes.ts";
import { encodeMessage, parseMessages, type Message } from "../wire/message.ts";

/** Returns the datagrams for a request. A negative errno makes recv() fail instead. */
export type Respond = (request: Message) => readonly (Buffer | number)[] | Promise<readonly (Buffer | number)[]>;

export interface FakeKernel extends Libc {
  /** All requests so far. */
  readonly requests: readonly Message[];
  /** Returns the number of open sockets. */
  countOpen(): number;
  /** Sends a datagram or an errno to all sockets of the protocol. `port` is that of the sender; the kernel has port 0. */
  emit(protocol: number, datagram: Buffer | number, port?: number): void;
}

export function createFakeKernel(respond: Respond = () => []): FakeKernel {
  const requests: Message[] = [];
  const sockets = new Map<number, Socket>();
  let nextFd = 1000;

  function take(fd: number, buffer: Buffer): { result: number; port: number } {
    const { datagram, port } = sockets.get(fd)?.queue.shift() ?? { datagram: -constants.errno.EAGAIN, port: 0 };
    if (typeof datagram === "number") return { result: datagram, port };
    datagram.copy(buffer);
    return { result: datagram.length, port };
  }

  return {
    requests,
    countOpen: () => sockets.size,
    emit(protocol, datagram, port = 0) {
      for (const socket of sockets.values()) {
        if (socket.protocol !== protocol) continue;
        socket.queue.push({ datagram, port });
        socket.wake();
      }
    },
    socket(protocol) {
      const fd = nextFd++;
      sockets.set(fd, { protocol, queue: [], wake: () => undefined });
      return fd;
    },
    connectSeqpacket: () => -constants.errno.ECONNREFUSED,
    bind: () => 0,
    setsockopt: () => 0,
    setns: () => 0,
    flock: () => 0,
    close: (fd) => (sockets.delete(fd) ? 0 : -constants.errno.EBADF),
    async send(fd, message) {
      for (const request of parseMessages(message)) {
        requests.push(request);
        for (const datagram of await respond(request)) sockets.get(fd)?.queue.push({ datagram, port: 0 });
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
      const socket = sockets.get(fd);
      if (socket !== undefined) socket.wake = onReadable;
      return () => {
        if (socket !== undefined) socket.wake = () => undefined;
      };
    },
  };
}

interface Socket {
  readonly protocol: number;
  readonly queue: { readonly datagram: Buffer | number; readonly port: number }[];
  wake: () => void;
}

const types = { error: 2, done: 3 };

const flags = { capped: 0x100, attributes: 0x200 };

/**
 * reply, done and ack make messages of the kernel for tests with a fake kernel.
 * Returns a reply to a request.
 */
export function reply(request: Message, type: number, payload: Buffer): Buffer {
  return encodeMessage({ type, flags: 0, sequence: request.sequence }, payload);
}

/** Returns the end of a dump. `interrupted` means that its items changed during the dump. */
export function done(request: Message, how: { readonly interrupted?: boolean } = {}): Buffer {
  const interrupted = how.interrupted === true ? 0x10 : 0;
  return encodeMessage({ type: types.done, flags: interrupted, sequence: request.sequence }, Buffer.alloc(4));
}

/** Returns an ack, or an error with the kernel's message. */
export function ack(
  request: Message,
  refusal?: { readonly code: keyof typeof constants.errno; readonly words?: string },
): Buffer {
  const errno = Buffer.alloc(4);
  if (refusal !== undefined) errno.writeInt32LE(-constants.errno[refusal.code]);
  const echo = encodeMessage({ ...request, flags: 0 }, Buffer.alloc(0));
  const words = refusal?.words === undefined ? [] : [text(1, refusal.words)];
  return encodeMessage(
    { type: types.error, flags: flags.capped | (words.length > 0 ? flags.attributes : 0), sequence: request.sequence },
    Buffer.concat([errno, echo, ...words]),
  );
}
