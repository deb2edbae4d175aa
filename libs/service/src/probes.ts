// SPDX-License-Identifier: Apache-2.0
/**
 * The HTTP endpoints of a service: /healthz (the process lives), /readyz (it can do its work now), /metrics.
 * Usage: `await using probes = await startProbes({ healthAddress, metricsAddress, notReady: () => [], metrics })`.
 */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ListenAddress } from "./flag-kinds.ts";
import type { Registry } from "./prom-client.cjs";
import { ServiceError } from "./service-error.ts";

/** Why the service cannot do its work now, a sentence each; none: it is ready. */
export type NotReady = () => readonly string[];

/** What is served, and where. */
export interface ProbeOptions {
  readonly healthAddress: ListenAddress | "off";
  /** The same address as healthAddress is served by the same server. */
  readonly metricsAddress: ListenAddress | "off";
  readonly notReady: NotReady;
  /** Why the process has to be started again, a sentence each; none: it lives. */
  readonly notAlive: NotReady;
  readonly metrics: Registry;
}

/** Running endpoints. */
export interface Probes extends AsyncDisposable {
  /** Ports in use, where the address said 0: any. Absent: off. */
  readonly healthPort: number | undefined;
  readonly metricsPort: number | undefined;
}

// Not `import { createServer }`: an ES module's import of node:http touches its lazy WebSocket exports, and with them
// loads all of fetch: 14 MB of resident memory against 4 MB (Node 24.21).
const { createServer } = process.getBuiltinModule("node:http");

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

type Pages = Readonly<Record<string, () => Answer | Promise<Answer>>>;

/** Listens. Rejects with ServiceError LISTEN_FAILED when an address cannot be had. */
export async function startProbes(options: ProbeOptions): Promise<Probes> {
  const { healthAddress, metricsAddress, notReady, notAlive, metrics } = options;
  const health: Pages = {
    "/healthz": () => verdict(notAlive()),
    "/readyz": () => verdict(notReady()),
  };
  const scrape: Pages = {
    "/metrics": async () => ({ status: 200, type: metrics.contentType, body: await metrics.metrics() }),
  };

  const shared = isSame(healthAddress, metricsAddress);
  await using started = new AsyncDisposableStack();
  const healthPort = await serve(shared ? { ...health, ...scrape } : health, healthAddress, started);
  const metricsPort = shared ? healthPort : await serve(scrape, metricsAddress, started);
  const running = started.move(); // a failure above closes what already listens
  return { healthPort, metricsPort, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function verdict(reasons: readonly string[]): Answer {
  return reasons.length === 0 ? { status: 200, body: "ok\n" } : { status: 503, body: `${reasons.join("\n")}\n` };
}

async function serve(
  pages: Pages,
  address: ListenAddress | "off",
  started: AsyncDisposableStack,
): Promise<number | undefined> {
  if (address === "off") return undefined;
  const server = createServer((request, response) => {
    void answer(pages, request.method, request.url).then(({ status, type, body }) => {
      response.writeHead(status, { "content-type": type ?? "text/plain; charset=utf-8" }).end(body);
    });
  });
  await listen(server, address);
  started.defer(() => close(server));
  const bound = server.address();
  return isAddressInfo(bound) ? bound.port : undefined;
}

async function answer(pages: Pages, method = "", url = ""): Promise<Answer> {
  const page = new Map(Object.entries(pages)).get(url.split("?", 1)[0] ?? "");
  if (page === undefined) return { status: 404, body: `here are: ${Object.keys(pages).join(" ")}\n` };
  if (method !== "GET" && method !== "HEAD") return { status: 405, body: "GET only\n" };
  try {
    return await page();
  } catch (error) {
    return { status: 500, body: `${String(error)}\n` };
  }
}

async function listen(server: Server, { host, port }: ListenAddress): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  server.once("error", (cause: NodeJS.ErrnoException) => {
    reject(new ServiceError("LISTEN_FAILED", `listen on ${host}:${port}: ${cause.code ?? cause.message}`, cause));
  });
  // No host: all addresses of both families.
  server.listen({ port, ...(host === "" ? {} : { host }) }, () => {
    resolve(undefined);
  });
  await promise;
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.close(() => {
    resolve(undefined);
  });
  server.closeAllConnections(); // a client that keeps its connection open would hold up the exit
  await promise;
}

function isSame(a: ListenAddress | "off", b: ListenAddress | "off"): boolean {
  return a !== "off" && b !== "off" && a.host === b.host && a.port === b.port;
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}
