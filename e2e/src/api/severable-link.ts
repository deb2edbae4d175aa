// SPDX-License-Identifier: Apache-2.0
/**
 * SeverableLink is a TCP relay on loopback to a server that can be cut or made to drop all data. It does not inspect the
 * data, so TLS works.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

/** A relay. Disposing it closes all connections. */
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

  /** Starts a relay. `url` must contain the server's address and port. */
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

  /** Closes all connections and refuses new ones. */
  cut(): void {
    this.#state = "cut";
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Drops all data without closing the connections, like a network that loses packets. */
  silence(): void {
    this.#state = "silent";
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** Accepts new connections again. Data that was dropped is lost. */
  mend(): void {
    if (this.#state === "silent") for (const socket of this.#sockets) socket.destroy();
    this.#state = "open";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
