// SPDX-License-Identifier: Apache-2.0
/**
 * answerEchoes sends UDP packets back, and sendEchoes sends some and counts those that return. Linux sets the bit "don't fragment"
 * in packets that fit the known MTU of the path, without any option of the socket (IP_PMTUDISC_WANT, ip(7)).
 */
import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { EchoResult } from "../observation.ts";

/** Length of the IP and UDP headers. */
const headerBytes = { ipv4: 28, ipv6: 48 };

export function answerEchoes(address: string, port: number): void {
  const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
  socket.on("error", () => undefined);
  socket.on("message", (message, from) => {
    socket.send(message, from.port, from.address, () => undefined);
  });
  socket.bind(port, address);
}

export interface EchoOptions {
  /** Address of the interface, which the packets have as source. */
  readonly from: string;
  readonly to: string;
  readonly port: number;
  /** Size of the IP packets. */
  readonly bytes: number;
  /** Packets to send, one after the other. */
  readonly count: number;
  /** Time to wait for the answer to each. */
  readonly waitMs: number;
  /** Fragments that the pod has made and received until now. */
  readonly fragments: () => number;
}

export async function sendEchoes(options: EchoOptions): Promise<EchoResult> {
  const { from, to, port, bytes, count, waitMs, fragments } = options;
  const isSix = isIPv6(to);
  const payload = Buffer.alloc(Math.max(8, bytes - (isSix ? headerBytes.ipv6 : headerBytes.ipv4)), "v");
  const before = fragments();
  const socket = createSocket(isSix ? "udp6" : "udp4");
  let error: string | undefined;
  let received = 0;
  let answered: (() => void) | undefined;
  const fail = (cause: NodeJS.ErrnoException | null): void => {
    if (cause === null) return;
    error = cause.code ?? cause.message;
  };
  socket.on("error", fail);
  socket.on("message", (message) => {
    if (message.length !== payload.length) return;
    received++;
    answered?.();
  });
  try {
    await new Promise<void>((resolve) =>
      socket.bind(0, from, resolve).once("error", () => {
        resolve();
      }),
    );
    for (let packet = 0; packet < count; packet++) {
      payload.writeUInt32BE(packet);
      const { promise, resolve } = Promise.withResolvers<undefined>();
      answered = () => {
        resolve(undefined);
      };
      const timer = setTimeout(answered, waitMs);
      socket.send(payload, port, to, fail);
      await promise;
      clearTimeout(timer);
    }
  } finally {
    socket.close();
  }
  return {
    bytes,
    sent: count,
    received: Math.min(received, count),
    fragmented: fragments() - before,
    ...(error !== undefined && { error }),
  };
}
