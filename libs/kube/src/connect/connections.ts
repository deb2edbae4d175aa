// SPDX-License-Identifier: Apache-2.0
/**
 * The connections to one API server. Requests and watches take the same ones: at a start, each list leaves one behind for
 * the watch that follows it, which spares both sides a TLS handshake. All keep the TLS identity that they began with, so a
 * new one (a renewed certificate) begins new connections. How many there are is up to who asks.
 * Usage: `https.request({ agent: connections.agent(tls) })`.
 */
import type { Agent } from "node:http";
import https from "node:https";
import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import type { TlsIdentity } from "./credentials.ts";
import type { Endpoint } from "./endpoint.ts";
import { KubeError } from "../http/kube-error.ts";

/** An import of it would make Node load its WebSocket too, and that undici: 8 MB (Node 24.21). */
export const http = process.getBuiltinModule("node:http");

/** Disposing it closes those that are idle. */
export class Connections implements Disposable {
  readonly #endpoint: Endpoint;
  #current: { readonly tls: TlsIdentity; readonly agent: Agent } | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Throws KubeError "BadConfig". */
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
      agent.maxFreeSockets = 0; // those in use end with what they are used for
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    }
    this.#current = undefined;
  }

  #agentFor({ ca, cert, key, proxyAgent }: TlsIdentity): Agent {
    if (proxyAgent !== undefined) return proxyAgent;
    const { server, serverName, insecure } = this.#endpoint;
    const pool = { keepAlive: true, keepAliveMsecs: probeAfterMs, timeout: idleMs };
    if (server.protocol === "http:") return new http.Agent(pool);
    const tls = {
      // Made once: of PEM texts, Node would make a part of the pool's key and parse them for each connection.
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
 * Silence on a connection after which TCP asks whether the other side is there. Node then asks ten times, a second
 * apart: one that is gone is noticed within 40 s.
 */
export const probeAfterMs = 30_000;

// The API server closes connections that were idle for 90 s; a request that it crosses would be lost.
export const idleMs = 60_000;
