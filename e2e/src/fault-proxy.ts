// SPDX-License-Identifier: Apache-2.0
/**
 * A way to the API server on which things go wrong as told: writes that are refused or whose answers are lost, watches
 * that lag, lists of the past. Clients speak plain HTTP to it on loopback and need no credentials.
 * Usage: `await using proxy = await FaultProxy.before(cluster.kubeconfig, rules); proxy.url; proxy.sever(); proxy.mend()`.
 */
import { isRecord } from "@switchyard/kube";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import https from "node:https";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { parse } from "yaml";
import { readApiRequest, type ApiRequest } from "./api-request.ts";

/** What becomes of one write. */
export interface Fate {
  /** Whether the API server gets it. */
  readonly isCarriedOut: boolean;
  /** What the client hears of it. */
  readonly answer: "server's" | "reset" | Refusal;
  /** Runs after it was carried out and before the client hears of it. */
  readonly before?: () => void;
  /** Runs when the client has been answered. */
  readonly after?: () => void;
}

/** An answer as the API server gives it when it does not want to. */
export interface Refusal {
  readonly status: number;
  /** metav1.StatusReason */
  readonly reason: string;
  readonly retryAfterS?: number;
}

/** Asked for each request. */
export interface FaultRules {
  fateOf(write: ApiRequest): Fate;
  /** Told the server's answer to a write that was carried out: its HTTP status. */
  answered(write: ApiRequest, status: number): void;
  /** Told each request that comes. */
  heard(request: ApiRequest): void;
  /** Lists begin at this resourceVersion of the past; undefined is the present. */
  pastOf(list: ApiRequest): string | undefined;
  /** Events of this watch go on when it resolves. */
  whenLive(watch: ApiRequest): Promise<void>;
}

interface Upstream {
  readonly server: URL;
  readonly agent: https.Agent;
}

/** Disposing it ends all connections. */
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

  /** Goes on to the cluster of this kubeconfig, as its user, who has a certificate. */
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

  /** Ends all clients' connections and lets no new ones through. What the API server has, it carries out. */
  sever(): void {
    this.#isSevered = true;
    // No reset: one that comes while a socket ends in order leaves it open for ever (Node 24.21).
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
    const fate = this.#rules.fateOf(request);
    const answer = fate.isCarriedOut ? await this.#ask(incoming, body) : undefined;
    const carriedOut = answer && { head: answer, body: await text(answer) };
    if (carriedOut) this.#rules.answered(request, carriedOut.head.statusCode ?? 0);
    fate.before?.();
    if (fate.answer === "reset") incoming.socket.resetAndDestroy();
    else if (fate.answer !== "server's") refuse(fate.answer, response);
    else if (carriedOut) {
      response.writeHead(carriedOut.head.statusCode ?? 0, endToEnd(carriedOut.head)).end(carriedOut.body);
    }
    fate.after?.();
  }

  async #watch(request: ApiRequest, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#ask(incoming, "");
    response.on("close", () => answer.destroy());
    response.writeHead(answer.statusCode ?? 0, endToEnd(answer));
    response.flushHeaders();
    for await (const chunk of answer) {
      await this.#rules.whenLive(request);
      response.write(chunk);
    }
    response.end();
  }

  async #read(request: ApiRequest, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const past = request.verb === "list" ? this.#rules.pastOf(request) : undefined;
    const answer = await this.#ask(incoming, "", past);
    response.writeHead(answer.statusCode ?? 0, endToEnd(answer));
    for await (const chunk of answer) response.write(chunk);
    response.end();
  }

  /** Sends it on. Rejects where the API server cannot be reached. */
  #ask(incoming: IncomingMessage, body: string, past?: string): Promise<IncomingMessage> {
    const { server, agent } = this.#upstream;
    const url = new URL(incoming.url ?? "/", server);
    // The pages after the first have their resourceVersion in `continue`.
    if (past !== undefined && !url.searchParams.has("continue")) {
      url.searchParams.set("resourceVersion", past);
      url.searchParams.set("resourceVersionMatch", "Exact");
    }
    const { host: _, connection: __, "transfer-encoding": ___, ...headers } = incoming.headers;
    return new Promise((resolve, reject) => {
      const outgoing = https.request(url, { method: incoming.method, headers, agent }, resolve);
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

/** Without what is between two neighbours only. */
function endToEnd({ headers }: IncomingMessage): IncomingMessage["headers"] {
  const { connection: _, "transfer-encoding": __, "content-length": ___, ...rest } = headers;
  return rest;
}

async function readUpstream(kubeconfig: string): Promise<Upstream> {
  const config: unknown = parse(await readFile(kubeconfig, "utf8"));
  const [cluster, user] = [valueAt(config, "clusters", "0", "cluster"), valueAt(config, "users", "0", "user")];
  const textAt = (entry: unknown, field: string): string => {
    const value = valueAt(entry, field);
    if (typeof value !== "string") throw new TypeError(`${kubeconfig} has no ${field}`);
    return value;
  };
  const decode = (entry: unknown, field: string): Buffer => Buffer.from(textAt(entry, `${field}-data`), "base64");
  const agent = new https.Agent({
    keepAlive: true,
    ca: decode(cluster, "certificate-authority"),
    cert: decode(user, "client-certificate"),
    key: decode(user, "client-key"),
  });
  return { server: new URL(textAt(cluster, "server")), agent };
}

/** Lists are asked for their first entry, "0". */
function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((found, key) => {
    const fields: unknown = Array.isArray(found) ? Object.fromEntries(found.entries()) : found;
    return isRecord(fields) ? fields[key] : undefined;
  }, value);
}
