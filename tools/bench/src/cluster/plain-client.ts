// SPDX-License-Identifier: Apache-2.0
/**
 * createPlainClient returns a minimal client of an API server: node:https, a fixed number of persistent connections,
 * and unparsed answers. The measured programs are compared with this client, and the harness writes with it, too. So it must
 * not use the transport of libs/kube, which is measured.
 */
import type { IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import {
  apiVersionOf,
  collectionPath,
  isRecord,
  metadataOnly,
  objectPath,
  type KubeObject,
  type ResourceType,
} from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import { BenchError } from "../harness/run.ts";

export interface PlainRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path with the query. */
  readonly path: string;
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown;
  readonly contentType?: "application/json" | "application/apply-patch+yaml" | "application/merge-patch+json";
  readonly accept?: string;
}

/** An object to be written, without its type. */
export interface PlainObject extends Pick<KubeObject, "metadata"> {
  readonly spec?: unknown;
  readonly status?: unknown;
}

export interface PlainClient extends Disposable {
  /** Returns the text of the answer. Rejects with BenchError `refused` if the status is not 2xx, as all methods do. */
  request(request: PlainRequest): Promise<string>;
  /** The object at the path. */
  get(path: string): Promise<Readonly<Record<string, unknown>>>;
  /** The objects at the path, whose items have the type of their kind. */
  list<T = KubeObject>(path: string): Promise<readonly T[]>;
  create(type: ResourceType, object: PlainObject): Promise<string>;
  /** Applies the object by server-side apply; with "status", its status only. */
  apply(manager: string, type: ResourceType, object: PlainObject, subresource?: "status"): Promise<string>;
  /** Changes an object by a JSON merge patch. */
  merge(path: string, body: object): Promise<string>;
  delete(path: string): Promise<string>;
}

/** A server, and how the client identifies itself to it: by a certificate, a token, or not at all. */
export interface Identity {
  /** "https://127.0.0.1:6443" */
  readonly server: string;
  /** CA certificate of the server; all in PEM format. */
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

export function createPlainClient({ server, token, ...tls }: Identity, connections: number): PlainClient {
  const agent = new Agent({ ...tls, keepAlive: true, maxSockets: connections });

  async function request(asked: PlainRequest): Promise<string> {
    const { method, path, body, contentType = "application/json", accept = "application/json" } = asked;
    const payload =
      body === undefined ? undefined : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    const headers = {
      accept,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(payload && { "content-type": contentType, "content-length": payload.length }),
    };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      httpsRequest(server + path, { method, headers, agent }, resolve)
        .on("error", reject) // not once: a later error, such as a closed connection, would end the process
        .end(payload);
    });
    const [answer, status] = [await text(response), response.statusCode ?? 0];
    if (status >= 200 && status < 300) return answer;
    throw new BenchError("refused", `${method} ${path}: ${status} ${answer.slice(0, 500)}`);
  }

  async function get(path: string): Promise<Readonly<Record<string, unknown>>> {
    const answer: unknown = JSON.parse(await request({ method: "GET", path }));
    if (isRecord(answer)) return answer;
    throw new BenchError("refused", `GET ${path}: the answer is not an object`);
  }

  const accept = metadataOnly;
  const typed = (type: ResourceType, object: PlainObject) => ({
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    ...object,
  });
  return {
    request,
    get,
    async list<T>(path: string) {
      const { items } = await get(path);
      if (Array.isArray(items)) return items as readonly T[]; // the API server has validated them against their schema
      throw new BenchError("refused", `GET ${path}: the answer is not a list`);
    },
    create(type, object) {
      const path = collectionPath(type, object.metadata.namespace);
      return request({ method: "POST", path, body: typed(type, object), accept });
    },
    apply(manager, type, object, subresource) {
      const path = `${objectPath(type, object.metadata, subresource)}?fieldManager=${manager}&force=true`;
      const body = typed(type, object);
      return request({ method: "PATCH", path, contentType: "application/apply-patch+yaml", body, accept });
    },
    merge: (path, body) =>
      request({ method: "PATCH", path, contentType: "application/merge-patch+json", body, accept }),
    delete: (path) => request({ method: "DELETE", path }),
    [Symbol.dispose]() {
      agent.destroy();
    },
  };
}

/** Sends the requests over all connections; those of one group one after the other. */
export async function sendAll(
  client: PlainClient,
  groups: readonly (readonly PlainRequest[])[],
  { connections, signal }: { readonly connections: number; readonly signal?: AbortSignal },
): Promise<void> {
  await mapConcurrently(groups, connections, async (group) => {
    for (const request of group) {
      signal?.throwIfAborted();
      await client.request(request);
    }
  });
}
