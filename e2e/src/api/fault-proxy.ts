// SPDX-License-Identifier: Apache-2.0
/**
 * FaultProxy is a proxy in front of the API server that injects faults: refused, slow or unanswered requests, lost
 * answers of writes, watches that lag or are cut, and stale lists. Clients connect to it with plain HTTP on loopback,
 * without credentials.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { readApiRequest, type ApiRequest } from "./api-request.ts";
import { readUpstream, type Upstream } from "./api-upstream.ts";
import type { FaultRules, ReadOutcome, Refusal, WatchEnd } from "./fault-rules.ts";

/** A proxy. Disposing it closes all connections. */
export class FaultProxy implements AsyncDisposable {
  readonly #upstream: Upstream;
  readonly #rules: FaultRules;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isSevered = false;

  private constructor(upstream: Upstream, rules: FaultRules) {
    this.#upstream = upstream;
    this.#rules = rules;
    this.#server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
      this.#handle(request, response).catch(() => request.socket.destroy());
    });
    this.#server.on("connection", (socket: Socket) => {
      if (this.#isSevered) {
        socket.destroy();
        return;
      }
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  /**
   * Starts a proxy to the cluster of this kubeconfig. It uses the kubeconfig's user, who must have a certificate or a
   * token.
   */
  static async before(kubeconfig: string, rules: FaultRules): Promise<FaultProxy> {
    const proxy = new FaultProxy(await readUpstream(kubeconfig), rules);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** "http://127.0.0.1:<port>" */
  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address ? address.port : ""}`;
  }

  /**
   * Closes all connections of clients and refuses new ones. The API server still completes the requests that it has
   * received.
   */
  sever(): void {
    this.#isSevered = true;
    // Not resetAndDestroy(): a reset while a socket is closing leaves the socket open for ever (Node 24.21).
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isSevered = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.sever();
    this.#upstream.agent.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/", headers } = incoming;
    const request = readApiRequest(method, url, headers["user-agent"] ?? "");
    this.#rules.heard(request);
    if (request.verb === "write") await this.#write(request, incoming, response);
    else if (request.verb === "watch") await this.#watch(request, incoming, response);
    else await this.#read(request, incoming, response);
  }

  async #write(request: ApiRequest, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(incoming);
    const outcome = this.#rules.outcomeOf(request);
    if (outcome.delayMs !== undefined) await delay(outcome.delayMs);
    await outcome.until;
    const answer = outcome.isCarriedOut ? await this.#ask(incoming, body) : undefined;
    const carriedOut = answer && { head: answer, body: await text(answer) };
    if (carriedOut) this.#rules.answered(request, carriedOut.head.statusCode ?? 0);
    outcome.before?.();
    if (outcome.answer === "reset") incoming.socket.resetAndDestroy();
    else if (typeof outcome.answer === "object") refuse(outcome.answer, response);
    else if (outcome.answer === "server's" && carriedOut) {
      response.writeHead(carriedOut.head.statusCode ?? 0, endToEnd(carriedOut.head)).end(carriedOut.body);
    }
    outcome.after?.();
  }

  async #watch(request: ApiRequest, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { delayMs, refusal } = this.#rules.outcomeOfRead(request);
    if (delayMs !== undefined) await delay(delayMs);
    if (refusal !== undefined) {
      refuse(refusal, response);
      return;
    }
    const answer = await this.#ask(incoming, "");
    response.on("close", () => answer.destroy());
    response.writeHead(answer.statusCode ?? 0, endToEnd(answer));
    response.flushHeaders();
    for await (const chunk of answer) {
      const end = await this.#rules.whenLive(request);
      if (end !== undefined) {
        endWatch(end, chunk, response);
        return;
      }
      response.write(chunk);
    }
    response.end();
  }

  async #read(request: ApiRequest, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { delayMs, refusal, past, pageSize } = this.#rules.outcomeOfRead(request);
    if (delayMs !== undefined) await delay(delayMs);
    if (refusal !== undefined) {
      refuse(refusal, response);
      return;
    }
    const answer = await this.#ask(incoming, "", request.verb === "list" ? { past, pageSize } : {});
    response.writeHead(answer.statusCode ?? 0, endToEnd(answer));
    for await (const chunk of answer) response.write(chunk);
    response.end();
  }

  /** Forwards a request. Rejects if the API server is not reachable. */
  #ask(incoming: IncomingMessage, body: string, { past, pageSize }: ReadOutcome = {}): Promise<IncomingMessage> {
    const { server, agent, headers: own } = this.#upstream;
    const url = new URL(incoming.url ?? "/", server);
    // Pages after the first have their resourceVersion in `continue`.
    if (past !== undefined && !url.searchParams.has("continue")) {
      url.searchParams.set("resourceVersion", past);
      url.searchParams.set("resourceVersionMatch", "Exact");
    }
    if (pageSize !== undefined) url.searchParams.set("limit", `${pageSize}`);
    const { host: _, connection: __, "transfer-encoding": ___, ...headers } = incoming.headers;
    return new Promise((resolve, reject) => {
      const outgoing = https.request(url, { method: incoming.method, headers: { ...headers, ...own }, agent }, resolve);
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }
}

function refuse({ status, reason, retryAfterS }: Refusal, response: ServerResponse): void {
  const later = retryAfterS === undefined ? {} : { "retry-after": `${retryAfterS}` };
  const body = { apiVersion: "v1", kind: "Status", status: "Failure", code: status, reason, message: "by the proxy" };
  response.writeHead(status, { "content-type": "application/json", ...later }).end(JSON.stringify(body));
}

function endWatch(end: WatchEnd, chunk: unknown, response: ServerResponse): void {
  if (end === "expired") {
    const object = { apiVersion: "v1", kind: "Status", status: "Failure", code: 410, reason: "Expired" };
    response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
    return;
  }
  const half = end === "within an object" && Buffer.isBuffer(chunk) ? chunk.subarray(0, chunk.length / 2) : "";
  response.write(half, () => response.destroy());
}

/** The headers without the hop-by-hop headers. */
function endToEnd({ headers }: IncomingMessage): IncomingMessage["headers"] {
  const { connection: _, "transfer-encoding": __, "content-length": ___, ...rest } = headers;
  return rest;
}
