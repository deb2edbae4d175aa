// SPDX-License-Identifier: Apache-2.0
/**
 * What the kernel sends to all who listen. No thread waits for it: the event loop polls the socket (native-libc.ts).
 * Usage: `joinMulticast({ protocol: protocols.route, groups: 1, decode }, sink, signal)`.
 */
import { errnoName } from "../errno.ts";
import { addressBytes, type Libc } from "../libc.ts";
import { loadLibc } from "../native-libc.ts";
import { checked, NetlinkError } from "../netlink-error.ts";
import { inNetworkNamespace } from "../network-namespace.ts";

/** Where events go, from the event loop. */
export interface EventSink<Event> {
  event(event: Event): void;
  /** Events were lost, as this process was slow to read them or could not understand them. */
  lost(): void;
  /** The end: nothing more will come. */
  failed(error: NetlinkError): void;
}

/** The namespace to listen in, and what answers for the kernel in tests; as in NetlinkSocketOptions. */
export interface ListenOptions {
  readonly netns?: string | undefined;
  readonly libc?: Libc | undefined;
}

export interface MulticastOptions<Event> extends ListenOptions {
  /** One of `protocols`. */
  readonly protocol: number;
  /** Bit mask of the groups to join: bit 0 is group 1. */
  readonly groups: number;
  /** The events of a datagram, which is valid during the call only. Throws NetlinkError "malformed". */
  readonly decode: (datagram: Buffer) => readonly Event[];
}

const solSocket = 1;
const soRcvbuf = 8;
const soRcvbufforce = 33;

// The usual 208 KiB hold about 90 link messages: fewer than a NIC's VFs send at once when they come or go. The kernel
// takes memory only for what waits to be read.
const receiveQueueBytes = 4 << 20;

// No event has more than 8 KiB (uevents 2 KiB, link messages without VF details 1.1 KiB).
const datagramBytes = 64 << 10;

// Then the event loop gets to do other things before it comes back here.
const maxDatagramsAtOnce = 256;

/**
 * Listens from this call until `signal` aborts, which closes the socket at once. Throws NetlinkError where there can be no
 * such socket.
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
    // Other processes may send to our port; the kernel's own is 0.
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
  const tried = "listen to netlink events";
  const fd = checked(tried, libc.socket(protocol));
  // Beyond the system's limit by CAP_NET_ADMIN; without it, as far as the limit allows.
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
