// SPDX-License-Identifier: Apache-2.0
/**
 * HttpTransport is a Transport over node:https with keep-alive connections; docs/decisions/001-kubernetes-transport.md has
 * the reasons. The number of concurrent requests is limited. Each watch has a connection of its own and is not limited.
 * Reserved requests, for the Lease of leader election, have a separate connection, which is opened on first use.
 * Usage: `await using transport = new HttpTransport(endpoint, { maxConnections: 16 })`.
 */
import type { IncomingMessage } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { Connections, http, probeAfterMs } from "./connections.ts";
import { systemClock, type Clock } from "../clock.ts";
import { createAnonymous, type CredentialSource, type Endpoint } from "./credentials.ts";
import { isKubeError, KubeError } from "./kube-error.ts";
import { linkAbort, type LinkedAbort } from "../linked-abort.ts";
import { Slots } from "./slots.ts";
import { statusError } from "./status-error.ts";
import type { Query, Transport, TransportRequest, WatchEvent, WatchRequest } from "./transport.ts";
import { parseJson, parseWatchEvent, readLines } from "./watch-stream.ts";

export interface HttpTransportOptions {
  /** Limit of concurrent requests; further ones wait. Watches and reserved requests do not count. 32 by default. */
  readonly maxConnections?: number | undefined;
  /** User agent for the logs of the server; "switchyard" by default. */
  readonly userAgent?: string | undefined;
  readonly clock?: Clock | undefined;
}

export class HttpTransport implements Transport {
  readonly namespace: string;
  #server: URL;
  readonly #credentials: CredentialSource;
  readonly #proxy: string | undefined;
  readonly #shared: Lane;
  readonly #reserved: Lane;
  readonly #clock: Clock;
  readonly #userAgent: string;
  /** The running requests and watches. A listener of each on one signal would have to be searched for at its end. */
  readonly #running = new Set<LinkedAbort>();
  #closed: KubeError | undefined;

  constructor(endpoint: Endpoint, options: HttpTransportOptions = {}) {
    this.namespace = endpoint.namespace;
    this.#server = endpoint.server;
    this.#credentials = endpoint.credentials ?? createAnonymous();
    this.#proxy = endpoint.proxy;
    this.#shared = { connections: new Connections(endpoint), slots: new Slots(options.maxConnections ?? 32) };
    this.#reserved = { connections: new Connections(endpoint), slots: new Slots(1) };
    this.#clock = options.clock ?? systemClock;
    this.#userAgent = options.userAgent ?? "switchyard";
  }

  get serverHost(): string {
    return this.#server.hostname.replace(/^\[(.*)\]$/, "$1"); // URL puts IPv6 addresses in brackets
  }

  get serverPort(): number | undefined {
    if (this.#proxy !== undefined) return undefined;
    return Number(this.#server.port || (this.#server.protocol === "http:" ? "80" : "443"));
  }

  async request(request: TransportRequest): Promise<unknown> {
    const tried = `${request.method} ${request.path}`;
    const { slots, connections } = request.reserved === true ? this.#reserved : this.#shared;
    using abort = this.#begin(request, tried);
    try {
      await slots.take(abort.signal);
      try {
        const response = await this.#send(request, { tried, connections, signal: abort.signal });
        if (request.onServerTime !== undefined) {
          const serverMs = Date.parse(response.headers.date ?? "");
          if (!Number.isNaN(serverMs)) request.onServerTime(serverMs);
        }
        if (request.onWarning !== undefined) readWarnings(response).forEach(request.onWarning);
        const text = await readAll(response);
        return request.accept?.startsWith("text/") === true ? text : parseJson(text, tried);
      } finally {
        slots.give();
      }
    } catch (error) {
      abort.signal.throwIfAborted();
      throw asKubeError(error, tried);
    }
  }

  async *watch(request: WatchRequest): AsyncGenerator<WatchEvent, void, undefined> {
    const tried = `watch ${request.path}`;
    using abort = this.#begin(request, tried);
    try {
      const get = { ...request, method: "GET", query: { ...request.query, watch: true } } as const;
      const { connections } = this.#shared;
      const response = await this.#send(get, { tried, connections, signal: abort.signal });
      abort.clear();
      request.onOpen?.();
      for await (const line of readLines(response, tried)) yield parseWatchEvent(line, tried);
    } catch (error) {
      abort.signal.throwIfAborted();
      throw asKubeError(error, tried);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = new KubeError("use the transport", "ConnectionLost", { words: "the transport is closed" });
    for (const abort of this.#running) abort.abort(this.#closed);
    this.#shared.connections[Symbol.dispose]();
    this.#reserved.connections[Symbol.dispose]();
    return Promise.resolve();
  }

  #begin({ signal, timeoutMs = 30_000 }: Pick<WatchRequest, "signal" | "timeoutMs">, tried: string): LinkedAbort {
    const linked = linkAbort(signal);
    const running = this.#running;
    const abort: LinkedAbort = {
      ...linked,
      [Symbol.dispose]() {
        running.delete(abort);
        linked[Symbol.dispose]();
      },
    };
    running.add(abort);
    if (this.#closed !== undefined) abort.abort(this.#closed);
    abort.in(this.#clock, timeoutMs, () => {
      return new KubeError(tried, "Timeout", { words: `no response within ${timeoutMs} ms` });
    });
    return abort;
  }

  /** Resolves with the response when its head has arrived with a success status. */
  async #send(request: TransportRequest, { tried, connections, signal }: Sending): Promise<IncomingMessage> {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const { headers, tls, server = this.#server } = await this.#credentials.current();
    signal.throwIfAborted();
    this.#server = server;
    const { promise: responded, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const options: https.RequestOptions = {
      method: request.method,
      path: pathOn(server, request.path, request.query),
      agent: connections.agent(tls),
      headers: {
        accept: request.accept ?? "application/json",
        "user-agent": this.#userAgent,
        ...headers,
        ...(body !== undefined && {
          "content-type": request.contentType ?? "application/json",
          "content-length": Buffer.byteLength(body),
        }),
      },
    };
    const { request: begin } = server.protocol === "http:" ? http : https;
    const outgoing = begin(server, options, resolve);
    outgoing.on("error", (error) => {
      reject(this.#proxy === undefined ? error : proxyError(error, tried, this.#proxy));
    });
    // Node's option `signal` adds seven listeners to each request.
    signal.addEventListener("abort", () => outgoing.destroy(), { once: true });
    outgoing.on("socket", (socket) => {
      if (!outgoing.reusedSocket) socket.setKeepAlive(true, probeAfterMs); // the agent repeats it for later requests
      whenOpen(socket, () => {
        try {
          request.beforeSend?.();
          outgoing.end(body); // with the headers, in one packet, because the body is a string
        } catch (error) {
          reject(error);
          outgoing.destroy();
        }
      });
    });

    const response = await responded;
    const { statusCode: status = 0 } = response;
    if (status >= 200 && status < 300) return response;
    if (status === 401) this.#credentials.refused();
    throw statusError(tried, { status, retryAfter: response.headers["retry-after"] }, asJson(await readAll(response)));
  }
}

/** Connections and the limit of concurrent requests over them. */
interface Lane {
  readonly connections: Connections;
  readonly slots: Slots;
}

interface Sending {
  readonly tried: string;
  readonly connections: Connections;
  readonly signal: AbortSignal;
}

/** Calls `run` when the socket is connected. Before that, Node would buffer the request and send it without a check. */
function whenOpen(socket: Socket, run: () => void): void {
  if (socket instanceof TLSSocket) {
    if (socket.getFinished() === undefined) socket.once("secureConnect", run);
    else run();
  } else if (socket.connecting) {
    socket.once("connect", run);
  } else {
    run();
  }
}

function pathOn(server: URL, path: string, query: Query = {}): string {
  const search = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join("&");
  return `${server.pathname.replace(/\/$/, "")}${path}${search === "" ? "" : `?${search}`}`;
}

/** The texts of the response's headers `Warning: 299 - "text"`, which Node.js has read as Latin-1. */
function readWarnings({ headersDistinct }: IncomingMessage): readonly string[] {
  const quoted = (headersDistinct["warning"] ?? []).flatMap((value) => [...value.matchAll(/"((?:[^"\\]|\\.)*)"/g)]);
  return quoted.map(([, text = ""]) => Buffer.from(text.replaceAll(/\\(.)/g, "$1"), "latin1").toString("utf8"));
}

/** With listeners, because an iterator of a stream takes several times as long for an answer of one chunk. */
function readAll(response: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  response.once("end", () => {
    resolve(Buffer.concat(chunks).toString("utf8"));
  });
  response.once("error", reject);
  return promise;
}

/** Returns the JSON in `text`, or `text` itself: an error response can come from a proxy. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Errors of Node with a code come from the connection. All other errors are bugs and are returned unchanged. */
function asKubeError(error: unknown, tried: string): unknown {
  if (isKubeError(error) || typeof error !== "object" || error === null || !("code" in error)) return error;
  const words = "message" in error && error.message !== "" ? String(error.message) : String(error.code);
  return new KubeError(tried, "ConnectionLost", { words, cause: error });
}

/** The error of a proxy has no code, and its message does not name the proxy. */
function proxyError(cause: NodeJS.ErrnoException, tried: string, proxy: string): KubeError {
  const words = `through the proxy ${proxy}: ${cause.message || (cause.code ?? "failed")}`;
  return new KubeError(tried, "ConnectionLost", { words, cause });
}
