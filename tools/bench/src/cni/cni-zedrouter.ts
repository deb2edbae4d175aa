// SPDX-License-Identifier: Apache-2.0
/**
 * BenchZedrouter is a fake zedrouter that accepts every request and creates nothing. Its time is subtracted from that
 * of an ADD.
 */
import { createServer, type Socket } from "node:net";

export interface BenchZedrouter extends AsyncDisposable {
  /** The milliseconds between requests and their answers since the last call of takeMs. */
  takeMs(): number;
  /** Called before each answer. */
  onRequest: () => void;
}

interface Request {
  readonly id: number;
  readonly params: readonly [{ readonly PodInterface: { readonly Name: string; readonly MAC: string | null } }];
}

/** Starts a server on the Unix socket `path`. */
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
      // One request per line: the plugin waits for each answer before it sends the next request.
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
