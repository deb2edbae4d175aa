// SPDX-License-Identifier: Apache-2.0
/**
 * Connections is the connection pool for one API server. Requests and watches share it: at a start, each watch reuses the
 * connection of its list, which saves a TLS handshake. A connection keeps its TLS identity, so a renewed certificate needs
 * new connections. The pool does not limit their number.
 * Usage: `https.request({ agent: connections.agent(tls) })`.
 */
import type { Agent } from "node:http";
import https from "node:https";
import {
  createSecureContext,
  getCACertificates,
  setDefaultCACertificates,
  type SecureContext,
  type SecureContextOptions,
} from "node:tls";
import { KubeError } from "./kube-error.ts";
import type { Endpoint, TlsIdentity } from "./credentials.ts";

/** node:http without an import, which would make Node load its WebSocket and undici: 8 MB (Node 24.21). */
export const http = process.getBuiltinModule("node:http");

/** Disposing it closes the idle connections. */
export class Connections implements Disposable {
  readonly #endpoint: Endpoint;
  #current: { readonly tls: TlsIdentity; readonly agent: Agent } | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Returns the agent for a TLS identity. Throws KubeError "BadConfig" for invalid certificates and keys. */
  agent(tls: TlsIdentity): Agent {
    if (this.#current?.tls !== tls) {
      this[Symbol.dispose]();
      this.#current = { tls, agent: this.#agentFor(tls) };
    }
    return this.#current.agent;
  }

  [Symbol.dispose](): void {
    const agent = this.#current?.agent;
    if (agent !== undefined) {
      agent.maxFreeSockets = 0; // connections in use are closed after their request
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    }
    this.#current = undefined;
  }

  #agentFor({ ca, cert, key, proxyAgent }: TlsIdentity): Agent {
    if (!ca) trustPublicAuthorities();
    if (proxyAgent !== undefined) return proxyAgent;
    const { server, serverName, insecure } = this.#endpoint;
    const pool = { keepAlive: true, keepAliveMsecs: probeAfterMs, timeout: idleMs };
    if (server.protocol === "http:") return new http.Agent(pool);
    const tls = {
      // Made once: from PEM texts, Node would compute the key of the pool and parse them for each connection.
      secureContext: secureContextOf({ ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }),
      ...(serverName && { servername: serverName }),
      ...(insecure && { rejectUnauthorized: false }),
    };
    return new https.Agent({ ...pool, ...tls });
  }
}

function secureContextOf(pem: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(pem);
  } catch (cause) {
    const words = typeof cause === "object" && cause !== null && "message" in cause ? String(cause.message) : undefined;
    throw new KubeError("read certificates and key", "BadConfig", { words, cause });
  }
}

/**
 * Idle time after which TCP keep-alive probes start. Node sends ten probes, one per second, so a lost peer is detected
 * within 40 s.
 */
export const probeAfterMs = 30_000;

// The API server closes connections that were idle for 90 s. A request sent at that moment would be lost.
export const idleMs = 60_000;

let isDone = false;

/**
 * trustPublicAuthorities makes connections to servers for which the configuration names no certificate authorities trust the public
 * ones that Node knows. Services that use little memory run with --use-openssl-ca (libs/service/src/memory.ts), so Node does not
 * read its list at the first connection, and trusts only what OpenSSL finds on the machine.
 * Applies to the connections of the whole process that begin later. Does nothing in a process without --use-openssl-ca.
 */
export function trustPublicAuthorities(): void {
  if (isDone || !process.execArgv.includes("--use-openssl-ca")) return;
  setDefaultCACertificates([...getCACertificates("bundled"), ...getCACertificates("extra")]);
  isDone = true;
}
