// SPDX-License-Identifier: Apache-2.0
/**
 * ClientConnections bounds the connections of a server and the bodies that they send, without a client's certificate by which to
 * know the API server. When there are too many connections, it closes one that waits for its client: of the address with the most
 * connections, the one that has waited longest. So connections that are held open without a request make room for those that
 * send one, and an address with many connections makes room for one with few.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** Bodies up to this size are limited by the number of connections only. */
  readonly smallBodyBytes: number;
  /** Sum of the larger bodies that are being received or reviewed. */
  readonly largeBodiesBytes: number;
  /** Length of a body whose length the client does not tell. */
  readonly maxBodyBytes: number;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Whether its request is complete and not yet answered. */
  isReviewed: boolean;
}

interface LargeBody {
  readonly request: IncomingMessage;
  readonly bytes: number;
}

export class ClientConnections {
  readonly #limits: ConnectionLimits;
  /** The connection that has waited longest for its client is the first one. The keys are address and port of the client. */
  readonly #open = new Map<string, Connection>();
  /** The oldest is the first one. */
  readonly #large = new Set<LargeBody>();
  #numClosed = 0;

  constructor(server: Pick<Server, "on">, limits: ConnectionLimits) {
    this.#limits = limits;
    // The TCP connection: one whose TLS handshake does not end counts, too.
    server.on("connection", (socket: Socket) => {
      this.#add(socket);
    });
  }

  /** Number of connections that were closed to make room. */
  get numClosed(): number {
    return this.#numClosed;
  }

  /**
   * Call it before the body of a request is read. Returns false if there is no room for its body, which must not be read then.
   * An older large body that is still incomplete gives way to a new one.
   */
  beginBody(request: IncomingMessage): boolean {
    const { smallBodyBytes, largeBodiesBytes, maxBodyBytes } = this.#limits;
    const declared = Number(request.headers["content-length"] ?? maxBodyBytes);
    const bytes = Math.min(Number.isFinite(declared) ? declared : maxBodyBytes, maxBodyBytes);
    if (bytes <= smallBodyBytes) return true;
    let sum = [...this.#large].reduce((total, body) => total + body.bytes, bytes);
    for (const body of this.#large) {
      if (sum <= largeBodiesBytes) break;
      if (body.request.complete) continue;
      sum -= body.bytes;
      this.#large.delete(body);
      body.request.socket.destroy();
      this.#numClosed++;
    }
    if (sum > largeBodiesBytes) return false;
    this.#large.add({ request, bytes });
    return true;
  }

  /** The request is complete; its connection stays open until endReview(). */
  beginReview({ socket }: IncomingMessage): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection !== undefined) connection.isReviewed = true;
  }

  /** The request is answered or aborted. */
  endReview(request: IncomingMessage): void {
    for (const body of this.#large) if (body.request === request) this.#large.delete(body);
    const key = keyOf(request.socket);
    const connection = this.#open.get(key);
    if (connection === undefined) return;
    connection.isReviewed = false;
    this.#open.delete(key);
    this.#open.set(key, connection); // it waits from now on
  }

  #add(socket: Socket): void {
    if (this.#open.size >= this.#limits.maxConnections) this.#closeOne();
    const key = keyOf(socket);
    this.#open.set(key, { socket, address: socket.remoteAddress ?? "", isReviewed: false });
    socket.once("close", () => {
      if (this.#open.get(key)?.socket === socket) this.#open.delete(key);
    });
  }

  #closeOne(): void {
    const waiting = Map.groupBy(
      [...this.#open.values()].filter(({ isReviewed }) => !isReviewed),
      ({ address }) => address,
    );
    const most = [...waiting.values()].reduce<readonly Connection[]>(
      (largest, group) => (group.length > largest.length ? group : largest),
      [],
    );
    const [oldest] = most;
    if (oldest === undefined) return;
    this.#numClosed++;
    this.#open.delete(keyOf(oldest.socket));
    oldest.socket.destroy();
  }
}

function keyOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
