// SPDX-License-Identifier: Apache-2.0
/**
 * startTestProxy starts a proxy for HTTP (CONNECT, RFC 9110 9.3.6) or SOCKS 5 without a password (RFC 1928), which records
 * the requested tunnels.
 * Usage: `await using proxy = await startTestProxy("http"); console.log(proxy.url, proxy.tunnels);`
 */
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface TestProxy extends AsyncDisposable {
  /** "127.0.0.1:3128" */
  readonly host: string;
  /** "http://127.0.0.1:3128" */
  readonly url: string;
  readonly tunnels: readonly TestTunnel[];
}

export interface TestTunnel {
  /** "127.0.0.1:6443" */
  readonly to: string;
  /** The header proxy-authorization, if there is one. */
  readonly authorization: string | undefined;
}

/** Disposing the proxy closes all tunnels. With a `status` other than 200, an HTTP proxy rejects all tunnels with it. */
export async function startTestProxy(protocol: "http" | "socks5", { status = 200 } = {}): Promise<TestProxy> {
  const tunnels: TestTunnel[] = [];
  const sockets = new Set<Socket>();
  const server = protocol === "http" ? serveConnect(tunnels, status) : serveSocks(tunnels);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  return {
    host,
    url: `${protocol}://${host}`,
    tunnels,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serveConnect(tunnels: TestTunnel[], status: number): Server {
  return createHttpServer().on("connect", ({ url: to = "", headers }, client: Socket) => {
    tunnels.push({ to, authorization: headers["proxy-authorization"] });
    if (status === 200) join(client, to, "HTTP/1.1 200 OK\r\n\r\n");
    else client.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
  });
}

/** Each message of the client arrives in one piece, since it waits for the response. Only IPv4 addresses are supported. */
function serveSocks(tunnels: TestTunnel[]): Server {
  return createServer((client) => {
    client.once("data", () => {
      client.write(Buffer.of(5, 0)); // version 5, no authentication
      client.once("data", (request) => {
        const to = `${request.subarray(4, 8).join(".")}:${request.readUInt16BE(8)}`; // an IPv4 address
        tunnels.push({ to, authorization: undefined });
        join(client, to, Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0));
      });
    });
  });
}

/** Sends `answer` to the client and connects it to the server `to`. */
function join(client: Socket, to: string, answer: string | Buffer): void {
  const [host, port] = to.split(":");
  const server = connect(Number(port), host, () => client.write(answer));
  server.on("error", () => client.destroy());
  client.on("error", () => server.destroy());
  server.pipe(client).pipe(server);
}
