// SPDX-License-Identifier: Apache-2.0
/**
 * createPlainClient returns a minimal client of an API server: node:https, a fixed number of persistent connections,
 * and unparsed answers. The operator is compared with this client, and the harness uses it, too. So it must not use
 * the transport of libs/kube, which is measured.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { collectionPath, objectPath, type ResourceType } from "@switchyard/kube";
import { BenchError } from "../harness/run.ts";

export interface PlainRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path with the query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: "application/json" | "application/apply-patch+yaml" | "application/merge-patch+json";
  readonly accept?: string;
}

/** An object to be written. */
export interface PlainObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: object };
  readonly spec?: unknown;
  readonly status?: unknown;
}

export interface PlainClient extends Disposable {
  /** Returns the text of the answer. Rejects with BenchError `refused` if the status is not 2xx, as all methods do. */
  request(request: PlainRequest): Promise<string>;
  /** The object or list at the path. */
  get(path: string): Promise<unknown>;
  /** Creates an object of this type in its namespace. */
  create(type: ResourceType, body: PlainObject): Promise<string>;
  /** Applies the object by server-side apply; with "status", its status only. */
  apply(manager: string, type: ResourceType, body: PlainObject, subresource?: "status"): Promise<string>;
  /** Changes an object by a JSON merge patch. */
  merge(path: string, body: object): Promise<string>;
  delete(path: string): Promise<string>;
  /**
   * Resolves when the watch has started, with its lines until the server or the signal ends it. Rejects as `request`
   * does.
   */
  watch(request: Pick<PlainRequest, "path" | "accept">, signal: AbortSignal): Promise<AsyncIterable<string>>;
}

/** The server, and the client certificate of a user. */
export interface Identity {
  /** "https://127.0.0.1:6443" */
  readonly server: string;
  /** PEM texts. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Requests the metadata only, so that neither the server nor the client handles the rest of large objects. */
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
        .on("error", reject) // not once: a later error, such as a closed connection, would end the process
        .end(payload);
    });
  }

  async function refuse({ method, path }: PlainRequest, response: IncomingMessage): Promise<BenchError> {
    const words = await readText(response);
    return new BenchError("refused", `${method} ${path}: ${response.statusCode ?? 0} ${words.slice(0, 500)}`);
  }

  async function request(asked: PlainRequest): Promise<string> {
    const response = await send(asked, agent);
    if (!isSuccess(response)) throw await refuse(asked, response);
    return readText(response);
  }

  const accept = metadataOnly;
  return {
    request,
    get: async (path) => JSON.parse(await request({ method: "GET", path })) as unknown,
    create: (type, body) =>
      request({ method: "POST", path: collectionPath(type, body.metadata.namespace), body, accept }),
    apply(manager, type, body, subresource) {
      const path = `${objectPath(type, body.metadata, subresource)}?fieldManager=${manager}&force=true`;
      return request({ method: "PATCH", path, contentType: "application/apply-patch+yaml", body, accept });
    },
    merge: (path, body) =>
      request({ method: "PATCH", path, contentType: "application/merge-patch+json", body, accept }),
    delete: (path) => request({ method: "DELETE", path }),
    async watch({ path, accept }, signal) {
      const asked = { method: "GET", path, ...(accept === undefined ? {} : { accept }) } as const;
      const response = await send(asked, watchAgent, signal);
      if (!isSuccess(response)) throw await refuse(asked, response);
      response.on("error", () => undefined); // the reader gets the error, and there may be no reader
      return linesOf(response);
    },
    [Symbol.dispose]() {
      agent.destroy();
      watchAgent.destroy();
    },
  };
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

/** Reads a kubeconfig of libs/testing, which is JSON with embedded certificates. Rejects with BenchError `platform` for another one. */
export async function readIdentity(kubeconfig: string): Promise<Identity> {
  const config: unknown = JSON.parse(await readFile(kubeconfig, "utf8"));
  const text = (...path: readonly (string | number)[]): string => {
    let value: unknown = config;
    for (const step of path) value = typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
    if (typeof value === "string") return value;
    throw new BenchError("platform", `${kubeconfig} has no ${path.join(".")}`);
  };
  const pem = (...path: readonly (string | number)[]) => Buffer.from(text(...path), "base64").toString("utf8");
  return {
    server: text("clusters", 0, "cluster", "server"),
    ca: pem("clusters", 0, "cluster", "certificate-authority-data"),
    cert: pem("users", 0, "user", "client-certificate-data"),
    key: pem("users", 0, "user", "client-key-data"),
  };
}
