// SPDX-License-Identifier: Apache-2.0
/**
 * startPodNetwork gives pods addresses at which the API server reaches them, although their programs are processes of this
 * machine. The API server connects through an HTTP CONNECT proxy (its egress selector), which knows the port of each.
 */
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";

/** The network. Disposing it ends all connections. */
export interface PodNetwork extends AsyncDisposable {
  /** Path of the proxy's Unix socket. */
  readonly socket: string;
  /** Returns an address that no other pod has. Connections to it are refused. */
  newAddress(): string;
  /** From now on, connections to the address go to this machine. `ports` maps ports of the pod to ports of the machine. */
  open(address: string, ports: ReadonlyMap<number, number>): void;
  /** From now on, connections to the address are refused. */
  close(address: string): void;
}

/** Starts the proxy at a socket. Rejects if the socket cannot be created. */
export async function startPodNetwork(socket: string): Promise<PodNetwork> {
  const pods = new Map<string, ReadonlyMap<number, number>>();
  const connections = new Set<Socket>();
  const keep = (connection: Socket): void => {
    connections.add(connection);
    connection.on("error", () => connection.destroy()); // the other side has ended
    connection.once("close", () => connections.delete(connection));
  };
  const server = createServer((_, response) => {
    response.writeHead(405).end();
  });
  server.on("connect", ({ url = "" }, client: Socket, head: Buffer) => {
    keep(client);
    const [address = "", port = ""] = url.split(":");
    const local = pods.get(address)?.get(Number(port));
    if (local === undefined) {
      client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      return;
    }
    const pod = connect(local, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      pod.write(head);
      pod.pipe(client).pipe(pod);
    });
    keep(pod);
    pod.once("close", () => client.destroy());
    client.once("close", () => pod.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(socket, resolve);
  });
  let numAddresses = 0;
  return {
    socket,
    newAddress() {
      numAddresses++;
      return `10.244.${Math.floor(numAddresses / 250)}.${(numAddresses % 250) + 1}`;
    },
    open(address, ports) {
      pods.set(address, ports);
    },
    close(address) {
      pods.delete(address);
    },
    async [Symbol.asyncDispose]() {
      for (const connection of connections) connection.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
