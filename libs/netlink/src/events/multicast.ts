// SPDX-License-Identifier: Apache-2.0
/**
 * joinMulticast receives the events that the kernel sends to multicast groups. No thread waits for them: the event loop
 * polls the socket (libc.ts).
 * Usage: `joinMulticast({ protocol: protocols.route, groups: 1, decode }, sink, signal)`.
 */
import { checked, errnoName, NetlinkError } from "../netlink-error.ts";
import { addressBytes, loadLibc, type Libc } from "../libc.ts";
import { inNetworkNamespace } from "../network-namespace.ts";

/** Receives events, from the event loop. */
export interface EventSink<Event> {
  event(event: Event): void;
  /** Events were lost because this process read them too late or could not parse them. */
  lost(): void;
  /** No more events will arrive. */
  failed(error: NetlinkError): void;
}

/** Network namespace, and replacement of the kernel in tests; as in NetlinkSocketOptions. */
export interface ListenOptions {
  readonly netns?: string | undefined;
  readonly libc?: Libc | undefined;
}

export interface MulticastOptions<Event> extends ListenOptions {
  /** One of `protocols`. */
  readonly protocol: number;
  /** Bit mask of the groups to join: bit 0 is group 1. */
  readonly groups: number;
  /** Returns the events of a datagram, which is valid only during the call. Throws NetlinkError "malformed". */
  readonly decode: (datagram: Buffer) => readonly Event[];
}

const solSocket = 1;
const soRcvbuf = 8;
const soRcvbufforce = 33;

// The default of 208 KiB holds about 90 link messages. A NIC can send more at once when its VFs are created or removed. The
// kernel uses memory only for unread messages.
const receiveQueueBytes = 4 << 20;

// Events have at most 8 KiB (uevents 2 KiB, link messages without VF details 1.1 KiB).
const datagramBytes = 64 << 10;

// After this number, the event loop handles other work first.
const maxDatagramsAtOnce = 256;

/**
 * Receives events from this call until `signal` aborts, which closes the socket at once. Throws NetlinkError if the socket
 * cannot be opened.
 */
export function joinMulticast<Event>(
  { protocol, groups, decode, netns, libc = loadLibc() }: MulticastOptions<Event>,
  sink: EventSink<Event>,
  signal: AbortSignal,
): void {
  if (signal.aborted) return;
  const fd = inNetworkNamespace(libc, netns, () => openMulticast(libc, protocol, groups));
  const datagram = Buffer.alloc(datagramBytes);
  const sender = Buffer.alloc(addressBytes);
  const stopWatching = libc.watchReadable(fd, drain);
  signal.addEventListener("abort", close, { once: true });

  function drain(): void {
    for (let count = 0; count < maxDatagramsAtOnce && !signal.aborted; count++) {
      const length = libc.recvfrom(fd, datagram, sender);
      if (length >= 0) deliver(length);
      else if (errnoName(-length) === "ENOBUFS") sink.lost();
      else {
        if (errnoName(-length) !== "EAGAIN") fail(new NetlinkError("read netlink events", errnoName(-length)));
        return;
      }
    }
  }

  function deliver(length: number): void {
    // Other processes can send to this socket. The port of the kernel is 0.
    if (sender.readUInt32LE(4) !== 0) return;
    if (length > datagram.length) {
      sink.lost();
      return;
    }
    const events = decoded(decode, datagram.subarray(0, length));
    if (events === undefined) sink.lost();
    for (const event of events ?? []) sink.event(event);
  }

  function fail(error: NetlinkError): void {
    signal.removeEventListener("abort", close);
    close();
    sink.failed(error);
  }

  function close(): void {
    stopWatching();
    libc.close(fd);
  }
}

function openMulticast(libc: Libc, protocol: number, groups: number): number {
  const tried = "open netlink socket for events";
  const fd = checked(tried, libc.socket(protocol));
  // With CAP_NET_ADMIN the size can exceed the system limit; without it, the size is cut to the limit.
  if (libc.setsockopt(fd, solSocket, soRcvbufforce, receiveQueueBytes) < 0) {
    libc.setsockopt(fd, solSocket, soRcvbuf, receiveQueueBytes);
  }
  const bound = libc.bind(fd, groups);
  if (bound < 0) libc.close(fd);
  checked(tried, bound);
  return fd;
}

function decoded<Event>(
  decode: (datagram: Buffer) => readonly Event[],
  datagram: Buffer,
): readonly Event[] | undefined {
  try {
    return decode(datagram);
  } catch (error) {
    if (error instanceof NetlinkError) return undefined;
    throw error;
  }
}
