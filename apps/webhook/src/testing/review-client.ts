// SPDX-License-Identifier: Apache-2.0
/** startTestServer starts a review server on loopback for tests, with a client that plays the API server. */
import { emptyView, type ClusterView } from "@switchyard/admission";
import { issueCertificate, type IssuedCertificate } from "@switchyard/certificates";
import { createLogger } from "@switchyard/service";
import { Agent, request, type RequestOptions } from "node:https";
import { startReviewServer, type ReviewServer, type ReviewServerOptions } from "../server/review-server.ts";
import { toTlsOptions } from "../server/tls-settings.ts";

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface TestServer extends AsyncDisposable {
  readonly server: ReviewServer;
  readonly pair: IssuedCertificate;
  /** The lines of the server's log. */
  readonly log: readonly string[];
  /** Sends strings unchanged and other values as JSON. */
  post(path: string, body: unknown, options?: RequestOptions): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

export const namespace = "sriov-network-operator";

export function makePair(): Promise<IssuedCertificate> {
  const hourMs = 3_600_000;
  const nowMs = Date.now();
  const validity = { notBefore: new Date(nowMs - hourMs), notAfter: new Date(nowMs + hourMs) };
  return issueCertificate({ names: ["localhost", "127.0.0.1"], ...validity });
}

export async function startTestServer(
  overrides: Partial<Omit<ReviewServerOptions, "log">> & { readonly view?: () => ClusterView } = {},
): Promise<TestServer> {
  const pair = await makePair();
  const log: string[] = [];
  const stream = { write: (line: string) => log.push(line) };
  const server = await startReviewServer({
    address: { host: "127.0.0.1", port: 0 },
    tls: toTlsOptions({ minVersion: "TLSv1.2", ciphers: undefined, curves: undefined }),
    keyPair: pair,
    view: () => emptyView(namespace),
    acceptsPath: (path) => path === "",
    notReady: () => [],
    cannotReview: () => [],
    log: createLogger({ service: "webhook", level: "trace", stream }).log,
    nowMs: () => performance.now(),
    onAnswer: () => undefined,
    lingerMs: 0,
    ...overrides,
  });
  const agent = new Agent({ keepAlive: true });
  const target = { host: "127.0.0.1", port: server.port, ca: pair.ca, agent };
  return {
    server,
    pair,
    log,
    post(path, body, options = {}) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return send(
        { ...target, path, method: "POST", headers: { "content-type": "application/json" }, ...options },
        text,
      );
    },
    get: (path) => send({ ...target, path, method: "GET" }, ""),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      agent.destroy();
    },
  };
}

export function send(options: RequestOptions, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, body: Buffer.concat(chunks).toString(), headers });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
