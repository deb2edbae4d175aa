// SPDX-License-Identifier: Apache-2.0
/**
 * startProbes serves the HTTP endpoints of a service: /healthz (the process is alive), /readyz (it can do its work now)
 * and /metrics.
 * Usage: `await using probes = await startProbes({ healthAddress, metricsAddress, notReady, notAlive, metrics })`.
 */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ListenAddress } from "./flags/flag-kinds.ts";
import type { Registry } from "./prom-client.cjs";
import { ServiceError } from "./errors.ts";

/** Returns why the service is not ready (or not alive), one line per reason. An empty list means that it is. */
export type NotReady = () => readonly string[];

/** The content of the endpoints and their addresses. */
export interface ProbeOptions {
  readonly healthAddress: ListenAddress | "off";
  /** If it equals healthAddress, one server has all endpoints. */
  readonly metricsAddress: ListenAddress | "off";
  readonly notReady: NotReady;
  /** Reasons to restart the process. */
  readonly notAlive: NotReady;
  readonly metrics: Registry;
}

/** Running endpoints. */
export interface Probes extends AsyncDisposable {
  /** Ports in use, also when the address has port 0; undefined when off. */
  readonly healthPort: number | undefined;
  readonly metricsPort: number | undefined;
}

// Not `import { createServer }`: importing node:http from an ES module evaluates its lazy WebSocket exports, which load
// all of fetch. That takes 14 MB of resident memory instead of 4 MB (Node 24.21).
const { createServer } = process.getBuiltinModule("node:http");

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

type Pages = Readonly<Record<string, () => Answer | Promise<Answer>>>;

/** A connection on which nothing happens for this long is closed. */
const silentMs = 60_000;

/**
 * How often Node looks for requests that arrive too slowly. By default it does so every 30 s, also without any connection, which is
 * a twentieth of the CPU time of an idle daemon.
 */
const slowRequestsMs = 5 * 60_000;

/** Starts the servers. Rejects with ServiceError LISTEN_FAILED if one cannot listen on its address. */
export async function startProbes(options: ProbeOptions): Promise<Probes> {
  const { healthAddress, metricsAddress, notReady, notAlive, metrics } = options;
  const health: Pages = {
    "/healthz": () => statusOf(notAlive()),
    "/readyz": () => statusOf(notReady()),
  };
  const scrape: Pages = {
    "/metrics": async () => ({ status: 200, type: metrics.contentType, body: await metrics.metrics() }),
  };

  const shared = isSame(healthAddress, metricsAddress);
  await using started = new AsyncDisposableStack();
  const healthPort = await serve(shared ? { ...health, ...scrape } : health, healthAddress, started);
  const metricsPort = shared ? healthPort : await serve(scrape, metricsAddress, started);
  const running = started.move(); // if the second server fails above, `started` closes the first
  return { healthPort, metricsPort, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function statusOf(reasons: readonly string[]): Answer {
  return reasons.length === 0 ? { status: 200, body: "ok\n" } : { status: 503, body: `${reasons.join("\n")}\n` };
}

async function serve(
  pages: Pages,
  address: ListenAddress | "off",
  started: AsyncDisposableStack,
): Promise<number | undefined> {
  if (address === "off") return undefined;
  const server = createServer({ connectionsCheckingInterval: slowRequestsMs }, (request, response) => {
    void answer(pages, request.method, request.url).then(({ status, type, body }) => {
      response.writeHead(status, { "content-type": type ?? "text/plain; charset=utf-8" }).end(body);
    });
  });
  server.setTimeout(silentMs);
  await listen(server, address);
  started.defer(() => close(server));
  const bound = server.address();
  return isAddressInfo(bound) ? bound.port : undefined;
}

async function answer(pages: Pages, method = "", url = ""): Promise<Answer> {
  const page = new Map(Object.entries(pages)).get(url.split("?", 1)[0] ?? "");
  if (page === undefined) return { status: 404, body: `not found; available: ${Object.keys(pages).join(" ")}\n` };
  if (method !== "GET" && method !== "HEAD") return { status: 405, body: "method not allowed; use GET\n" };
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
  // Without a host, Node listens on all addresses of IPv4 and IPv6.
  server.listen({ port, host: host === "" ? undefined : host }, () => {
    resolve(undefined);
  });
  await promise;
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.close(() => {
    resolve(undefined);
  });
  server.closeAllConnections(); // an idle keep-alive connection would delay the exit
  await promise;
}

function isSame(a: ListenAddress | "off", b: ListenAddress | "off"): boolean {
  return a !== "off" && b !== "off" && a.host === b.host && a.port === b.port;
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}
