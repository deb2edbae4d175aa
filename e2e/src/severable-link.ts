// SPDX-License-Identifier: Apache-2.0
/**
 * A way to a server that can be cut, or go silent: a TCP relay on loopback. What goes through it is not looked at, so TLS
 * holds.
 * Usage: `await using link = await SeverableLink.to(cluster.server); link.cut(); link.mend()`.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export class SeverableLink implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #protocol: string;
  #state: "open" | "cut" | "silent" = "open";

  private constructor(target: URL) {
    this.#protocol = target.protocol;
    this.#server = createServer((near) => {
      if (this.#state === "cut") {
        near.destroy();
        return;
      }
      if (this.#state === "silent") {
        this.#sockets.add(near);
        near.on("error", () => near.destroy());
        near.on("close", () => this.#sockets.delete(near));
        return;
      }
      const far = connect(Number(target.port), target.hostname);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket.on("error", () => other.destroy());
        socket.on("close", () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
  }

  /** `url` names the server by address and port. */
  static async to(url: string): Promise<SeverableLink> {
    const link = new SeverableLink(new URL(url));
    await new Promise<void>((resolve) => link.#server.listen(0, "127.0.0.1", resolve));
    return link;
  }

  /** "https://127.0.0.1:<port>", with the server's protocol. */
  get url(): string {
    const address = this.#server.address();
    return `${this.#protocol}//127.0.0.1:${typeof address === "object" && address ? address.port : ""}`;
  }

  /** Ends all connections, wherever they are, and lets no new ones through. */
  cut(): void {
    this.#state = "cut";
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Nothing gets through any more, and nobody is told: as where packets are dropped. */
  silence(): void {
    this.#state = "silent";
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** New connections get through. What was on its way when the link went silent is lost. */
  mend(): void {
    if (this.#state === "silent") for (const socket of this.#sockets) socket.destroy();
    this.#state = "open";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
