// SPDX-License-Identifier: Apache-2.0
/**
 * Finds and stops the control plane that runs in the background. It listens on a Unix socket, on which it sends its
 * address and accepts the command to stop. Unlike a pid file, a socket cannot refer to another process after a crash.
 */
import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

/** The address of a control plane. */
export interface Whereabouts {
  readonly kubeconfig: string;
  readonly server: string;
}

export interface Running {
  readonly whereabouts: Whereabouts;
  /** Stops the control plane and waits until its process has ended. */
  stop(): Promise<void>;
  /** Closes the connection; the control plane continues to run. */
  release(): void;
}

/** Sends `whereabouts` to each client that connects to `path`. Calls `onStop` when a client sends "stop". */
export async function announce(path: string, whereabouts: Whereabouts, onStop: () => void): Promise<Server> {
  const { kubeconfig, server: address } = whereabouts;
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  const server = createServer((client) => {
    client.on("error", () => undefined); // the client has closed its connection
    client.write(`${JSON.stringify({ kubeconfig, server: address })}\n`);
    createInterface(client).on("line", (line) => {
      if (line === "stop") onStop();
    });
  });
  server.listen({ path });
  await once(server, "listening");
  return server;
}

/** The control plane that answers at `path`; undefined if none does. */
export async function findRunning(path: string): Promise<Running | undefined> {
  const socket = connect({ path });
  const whereabouts = await readWhereabouts(socket).catch(() => undefined);
  if (whereabouts === undefined) {
    socket.destroy();
    return undefined;
  }
  return {
    whereabouts,
    async stop() {
      const closed = once(socket, "close");
      socket.write("stop\n");
      await closed;
    },
    release: () => {
      socket.destroy();
    },
  };
}

async function readWhereabouts(socket: Socket): Promise<Whereabouts | undefined> {
  await once(socket, "connect");
  const lines: unknown[] = await once(createInterface(socket), "line", { signal: AbortSignal.timeout(5_000) });
  const told: unknown = JSON.parse(String(lines[0]));
  return isWhereabouts(told) ? told : undefined;
}

function isWhereabouts(value: unknown): value is Whereabouts {
  if (typeof value !== "object" || value === null || !("kubeconfig" in value) || !("server" in value)) return false;
  return typeof value.kubeconfig === "string" && typeof value.server === "string";
}
