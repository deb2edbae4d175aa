// SPDX-License-Identifier: Apache-2.0
/**
 * A zedrouter that says yes and makes nothing: what it costs is taken off, so it may cost as little as can be.
 * Usage: `await using zedrouter = await startZedrouter(path); zedrouter.takeMs()` after a run is zedrouter's part of it.
 */
import { createServer, type Socket } from "node:net";

export interface BenchZedrouter extends AsyncDisposable {
  /** The time from a request to its answer since the last call, in milliseconds. */
  takeMs(): number;
  /** Called before each answer. */
  onRequest: () => void;
}

interface Request {
  readonly id: number;
  readonly params: readonly [{ readonly PodInterface: { readonly Name: string; readonly MAC: string | null } }];
}

/** Listens on `path`. */
export async function startZedrouter(path: string): Promise<BenchZedrouter> {
  const sockets = new Set<Socket>();
  let spentMs = 0;
  const self: BenchZedrouter = {
    onRequest: () => undefined,
    takeMs() {
      const taken = spentMs;
      spentMs = 0;
      return taken;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    socket.setEncoding("utf8").on("data", (line: string) => {
      const startMs = performance.now();
      self.onRequest();
      // One line each: our own plugin sends no more before it is answered.
      const { id, params } = JSON.parse(line) as Request;
      const [{ PodInterface: podInterface }] = params;
      const result = { AppUUID: "", UseDHCP: true, UsedDHCP: true, Interfaces: [{ ...podInterface, NetNsPath: "/" }] };
      socket.write(`${JSON.stringify({ id, result, error: null })}\n`);
      spentMs += performance.now() - startMs;
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return self;
}
