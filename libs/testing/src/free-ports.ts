// SPDX-License-Identifier: Apache-2.0
/**
 * findFreePorts finds loopback ports for servers that need a fixed port. It does not use port 0. The kernel would
 * choose a port in the range of outgoing connections, and such a connection could take the port before the server uses
 * it or while the server restarts.
 * Usage: `const [etcd, apiServer] = await findFreePorts(2)`.
 */
import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";

// Below the outgoing ports of Linux (ip_local_port_range, from 32768) and above well-known ports.
const lowest = 13_000;
const highest = 32_767;

/** Returns `count` different ports that are free now. Another process can still take one, so callers must retry. */
export async function findFreePorts(count: number): Promise<readonly number[]> {
  const held: { readonly port: number; readonly server: Server }[] = [];
  try {
    while (held.length < count) {
      const port = randomInt(lowest, highest + 1);
      const server = await hold(port);
      if (server !== undefined) held.push({ port, server });
    }
  } finally {
    await Promise.all(held.map(({ server }) => release(server)));
  }
  return held.map(({ port }) => port);
}

/** Reports whether a process listens on this loopback port. */
export async function isPortTaken(port: number): Promise<boolean> {
  const server = await hold(port);
  if (server !== undefined) await release(server);
  return server === undefined;
}

function hold(port: number): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error); // for example no loopback interface: the loop would never end
    });
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      resolve(server);
    });
  });
}

function release(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}
