// SPDX-License-Identifier: Apache-2.0
/**
 * The connections to one API server: a few that requests share, and one for each watch. All keep the TLS identity that
 * they began with, so a new one (a renewed certificate) begins new connections.
 * Usage: `https.request({ agent: connections.agent("shared", tls) })`.
 */
import http from "node:http";
import https from "node:https";
import { createSecureContext, type SecureContext } from "node:tls";
import type { TlsIdentity } from "./credentials.ts";
import type { Endpoint } from "./endpoint.ts";

/** Disposing it closes those that are idle. */
export class Connections implements Disposable {
  readonly #endpoint: Endpoint;
  readonly #maxShared: number;
  #current: { readonly tls: TlsIdentity; readonly shared: http.Agent; readonly own: http.Agent } | undefined;

  constructor(endpoint: Endpoint, maxShared: number) {
    this.#endpoint = endpoint;
    this.#maxShared = maxShared;
  }

  /** "own" has no limit: what waited for a watch to end would wait for minutes. */
  agent(connection: "shared" | "own", tls: TlsIdentity): http.Agent {
    if (this.#current?.tls !== tls) {
      this[Symbol.dispose]();
      const { ca, cert, key } = tls;
      const secureContext = createSecureContext({ ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });
      const create = (maxSockets: number) => this.#createAgent(maxSockets, secureContext);
      this.#current = { tls, shared: create(this.#maxShared), own: create(Infinity) };
    }
    return this.#current[connection];
  }

  [Symbol.dispose](): void {
    for (const agent of [this.#current?.shared, this.#current?.own]) {
      if (agent === undefined) continue;
      agent.maxFreeSockets = 0; // those in use end with what they are used for
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    }
    this.#current = undefined;
  }

  // A ready secureContext, since Node makes the PEM texts a part of the pool's key, and parses them, for each request.
  #createAgent(maxSockets: number, secureContext: SecureContext): http.Agent {
    const { server, serverName, insecure } = this.#endpoint;
    const pool = { keepAlive: true, maxSockets, timeout: idleMs };
    if (server.protocol === "http:") return new http.Agent(pool);
    const checks = { ...(serverName && { servername: serverName }), ...(insecure && { rejectUnauthorized: false }) };
    return new https.Agent({ ...pool, ...checks, secureContext });
  }
}

// The API server closes connections that were idle for 90 s; a request that it crosses would be lost.
const idleMs = 60_000;
