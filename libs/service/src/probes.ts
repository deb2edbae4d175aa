// SPDX-License-Identifier: Apache-2.0
/**
 * startProbes serves the HTTP endpoints of a service: /healthz (the process is alive), /readyz (it can do its work now)
 * and /metrics. Metrics can be served over TLS, and only to those who may read them.
 * Usage: `await using probes = await startProbes({ name, healthAddress, metricsAddress, notReady, notAlive, metrics })`.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ListenAddress } from "./flags/flag-kinds.ts";
import type { Registry } from "./prom-client.cjs";
import { ServiceError } from "./errors.ts";
import type { ReviewScrape } from "./scrape-gate.ts";

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
  /** Name of the service, which its certificate has. */
  readonly name: string;
  /** If set, metrics are served over TLS, and this decides about the bearer token of each scrape. */
  readonly reviewScrape?: ReviewScrape | undefined;
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
  const { healthAddress, metricsAddress, notReady, notAlive, metrics, name, reviewScrape } = options;
  const health: Pages = {
    "/healthz": () => statusOf(notAlive()),
    "/readyz": () => statusOf(notReady()),
  };
  const scrape: Pages = {
    "/metrics": async () => ({ status: 200, type: metrics.contentType, body: await metrics.metrics() }),
  };

  const shared = isSame(healthAddress, metricsAddress);
  if (shared && reviewScrape !== undefined) {
    throw new ServiceError("LISTEN_FAILED", "--metrics-secure needs a --metrics-address that is not --health-address");
  }
  await using started = new AsyncDisposableStack();
  const plain = (pages: Pages) =>
    createServer(serverOptions, (request, response) => void respond(pages, request, response));
  const healthPort = await serve(plain(shared ? { ...health, ...scrape } : health), healthAddress, started);
  const metricsPort = shared
    ? healthPort
    : await serve(
        reviewScrape === undefined || metricsAddress === "off"
          ? plain(scrape)
          : await secure(scrape, name, reviewScrape),
        metricsAddress,
        started,
      );
  const running = started.move(); // if the second server fails above, `started` closes the first
  return { healthPort, metricsPort, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function statusOf(reasons: readonly string[]): Answer {
  return reasons.length === 0 ? { status: 200, body: "ok\n" } : { status: 503, body: `${reasons.join("\n")}\n` };
}

const serverOptions = { connectionsCheckingInterval: slowRequestsMs };

async function respond(pages: Pages, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, type, body } = await answer(pages, request.method, request.url);
  response.writeHead(status, { "content-type": type ?? "text/plain; charset=utf-8" }).end(body);
}

/** Returns a server with TLS whose pages are for those whom `review` allows. */
async function secure(pages: Pages, name: string, review: ReviewScrape): Promise<Server> {
  // Loaded only here: most processes serve no TLS.
  const { selfSignedCertificate } = await import("@switchyard/certificates/self-signed");
  const { createServer: createTlsServer } = process.getBuiltinModule("node:https");
  const options = { ...serverOptions, ...selfSignedCertificate(name), minVersion: "TLSv1.2" as const };
  return createTlsServer(options, (request, response) => {
    void (async () => {
      const [, token = ""] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "") ?? [];
      const decision = token === "" ? "unauthenticated" : await review(token);
      if (decision === "allowed") await respond(pages, request, response);
      else response.writeHead(refusals[decision].status).end(refusals[decision].body);
    })();
  });
}

const refusals = {
  unauthenticated: { status: 401, body: "a valid bearer token is required\n" },
  forbidden: { status: 403, body: "the token has no right to get the non-resource URL /metrics\n" },
  unknown: { status: 503, body: "the API server does not say whether the token may read metrics\n" },
} as const;

async function serve(
  server: Server,
  address: ListenAddress | "off",
  started: AsyncDisposableStack,
): Promise<number | undefined> {
  if (address === "off") return undefined;
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
