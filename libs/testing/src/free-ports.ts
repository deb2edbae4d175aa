// SPDX-License-Identifier: Apache-2.0
/**
 * Loopback ports for servers that must be told theirs. Not the kernel's choice (port 0): that lies in the range of
 * outgoing connections, any of which could take the port before our server has it, or while our server is restarted.
 * Usage: `const [etcd, apiServer] = await findFreePorts(2)`
 */
import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";

// Below Linux's outgoing ports (ip_local_port_range, from 32768) and above the ports that services are known by.
const lowest = 13_000;
const highest = 32_767;

/** `count` different ports that nobody had a moment ago. Another process can still take one: be ready to ask again. */
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

/** Whether something listens on this loopback port now. */
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
      else reject(error); // no loopback at all: asking for other ports would never end
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
