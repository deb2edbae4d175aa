// SPDX-License-Identifier: Apache-2.0
/**
 * A way to a server that can be cut: a TCP relay on loopback. What goes through it is not looked at, so TLS holds.
 * Usage: `await using link = await SeverableLink.to(cluster.server); link.cut(); link.mend()`.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export class SeverableLink implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(target: URL) {
    this.#server = createServer((near) => {
      if (this.#isCut) {
        near.destroy();
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

  /** "https://127.0.0.1:<port>" */
  get url(): string {
    const address = this.#server.address();
    return `https://127.0.0.1:${typeof address === "object" && address ? address.port : ""}`;
  }

  /** Ends all connections, wherever they are, and lets no new ones through. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
