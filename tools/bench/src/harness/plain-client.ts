// SPDX-License-Identifier: Apache-2.0
/**
 * The least that can talk to an API server: node:https, a fixed number of kept connections, answers not even parsed.
 * It is the baseline that the operator is measured against, and the harness's own client, so it must not be built on
 * what it judges (libs/kube).
 * Usage: `using client = createPlainClient(readIdentity(kubeconfig), 32); await client.request({ method: "GET", path })`
 */
import { once } from "node:events";
import { Agent, request as httpsRequest } from "node:https";
import type { IncomingMessage } from "node:http";
import { BenchError } from "./bench-error.ts";
import type { Identity } from "./identity.ts";

export interface PlainRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: "application/json" | "application/apply-patch+yaml" | "application/merge-patch+json";
  readonly accept?: string;
}

export interface PlainClient extends Disposable {
  /** The answer's text. Rejects with BenchError `refused` on any status but 2xx. */
  request(request: PlainRequest): Promise<string>;
  /** Resolves when the watch has begun, with its lines until the server or the signal ends it. As `request` rejects. */
  watch(request: Pick<PlainRequest, "path" | "accept">, signal: AbortSignal): Promise<AsyncIterable<string>>;
}

/** Answers in metadata alone, which spare the server and the client the rest of a large object. */
export const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

export function createPlainClient({ server, ...credentials }: Identity, connections: number): PlainClient {
  const agent = new Agent({ ...credentials, keepAlive: true, maxSockets: connections });
  const watchAgent = new Agent({ ...credentials, keepAlive: false });

  async function send(request: PlainRequest, from: Agent, signal?: AbortSignal): Promise<IncomingMessage> {
    const { method, path, body, contentType = "application/json", accept = "application/json" } = request;
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {
      accept,
      ...(payload && { "content-type": contentType, "content-length": payload.length }),
    };
    return new Promise((resolve, reject) => {
      httpsRequest(server + path, { method, headers, agent: from, signal }, resolve)
        .once("error", reject)
        .end(payload);
    });
  }

  async function refuse({ method, path }: PlainRequest, response: IncomingMessage): Promise<BenchError> {
    const words = await readText(response);
    return new BenchError("refused", `${method} ${path}: ${response.statusCode ?? 0} ${words.slice(0, 500)}`);
  }

  return {
    async request(request) {
      const response = await send(request, agent);
      if (!isSuccess(response)) throw await refuse(request, response);
      return readText(response);
    },
    async watch({ path, accept }, signal) {
      const asked = { method: "GET", path, ...(accept === undefined ? {} : { accept }) } as const;
      const response = await send(asked, watchAgent, signal);
      if (!isSuccess(response)) throw await refuse(asked, response);
      response.on("error", () => undefined); // told to whoever reads; nobody need read
      return linesOf(response);
    },
    [Symbol.dispose]() {
      agent.destroy();
      watchAgent.destroy();
    },
  };
}

/** Does `work` on all items, at most `limit` at once; the first failure ends it. */
export async function inParallel<Item>(items: readonly Item[], limit: number, work: (item: Item) => Promise<unknown>) {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of response.setEncoding("utf8")) {
    const lines = (rest + String(piece)).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(response, "end");
  return Buffer.concat(chunks).toString("utf8");
}
