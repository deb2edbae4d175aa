// SPDX-License-Identifier: Apache-2.0
/**
 * FakeApiServer is an API server for ConfigMaps in this process, over HTTP. It supports paged lists, watches from a history,
 * merge patches, and faults on demand. It has no schemas and treats an apply as a merge patch; tests of server-side apply
 * use a real API server (e2e/integration).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Endpoint } from "../http/credentials.ts";
import { isRecord, type KubeObject, type ResourceType } from "../kube-object.ts";

/** The only type that is served. */
export const configMaps: ResourceType = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** A request that the server has received. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

/** A wrong response. "reset" closes the connection without a response, "silence" never responds. */
export type Fault =
  | "reset"
  | "silence"
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

interface Event {
  readonly version: number;
  readonly type: string;
  readonly object: KubeObject;
}

export class FakeApiServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  readonly #http: Server;
  readonly #objects = new Map<string, ConfigMap>();
  /** The open watches, with the version from which each was requested. */
  readonly #watches = new Map<ServerResponse, number>();
  readonly #faults: { readonly fault: Fault; readonly where: (request: SeenRequest) => boolean }[] = [];
  /** Remaining pages of lists, as of their first page. */
  readonly #snapshots = new Map<string, { readonly version: number; readonly rest: readonly ConfigMap[] }>();
  #history: Event[] = [];
  #version = 100;
  #forgotten = 0;

  private constructor() {
    this.#http = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<FakeApiServer> {
    const server = new FakeApiServer();
    await new Promise<void>((resolve) => server.#http.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get endpoint(): Endpoint {
    const address = this.#http.address();
    if (typeof address !== "object" || address === null) throw new TypeError("not listening");
    return { server: new URL(`http://127.0.0.1:${address.port}`), namespace: "ns" };
  }

  /** Number of open watches. */
  get watching(): number {
    return this.#watches.size;
  }

  get(name: string): ConfigMap | undefined {
    return this.#objects.get(`ns/${name}`);
  }

  /** Creates or replaces "ns/<name>". */
  put(name: string, data: Readonly<Record<string, string>>, namespace = "ns"): ConfigMap {
    const before = this.#objects.get(`${namespace}/${name}`);
    const metadata = before?.metadata ?? { name, namespace, uid: `uid-${this.#version}` };
    return this.#store({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
  }

  delete(name: string): void {
    const object = this.get(name);
    if (object === undefined) return;
    this.#objects.delete(`ns/${name}`);
    this.#publish("DELETED", object);
  }

  /** Drops the history, like a compacted etcd: watches from it and lists in progress get 410. */
  compact(): void {
    this.#history = [];
    this.#forgotten = this.#version;
    this.#snapshots.clear();
  }

  /** Returns a function that brings back the present content and version, like the restore of a backup of etcd. */
  backUp(): () => void {
    const objects = [...this.#objects];
    const version = this.#version;
    return () => {
      this.#objects.clear();
      for (const [key, object] of objects) this.#objects.set(key, object);
      this.#version = version;
      this.compact();
      this.cutWatches("reset");
    };
  }

  bookmark(): void {
    this.#version++;
    const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion: `${this.#version}` } };
    this.#send(this.#version, `${JSON.stringify({ type: "BOOKMARK", object })}\n`);
  }

  /** Ends all watches: regularly, by a reset, or within an object. */
  cutWatches(how: "in-order" | "reset" | "within-object"): void {
    for (const watch of this.#watches.keys()) {
      if (how === "within-object") watch.write('{"type":"ADDED","object":{"apiVersion":"v1","kind":"Confi');
      if (how === "reset") watch.destroy();
      else watch.end();
    }
    this.#watches.clear();
  }

  /** Writes `text` to all watches. */
  sendRaw(text: string): void {
    for (const watch of this.#watches.keys()) watch.write(text);
  }

  /** Fails the next request for which `where` returns true. Several calls fail several requests. */
  failNext(fault: Fault, where: (request: SeenRequest) => boolean = () => true): void {
    this.#faults.push({ fault, where });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://fake");
    const text = (await Array.fromAsync(request, (chunk: Buffer) => chunk.toString())).join("");
    const seen = {
      method: request.method ?? "",
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: text === "" ? undefined : (JSON.parse(text) as unknown),
    };
    this.requests.push(seen);
    const index = this.#faults.findIndex(({ where }) => where(seen));
    const [planned] = index < 0 ? [] : this.#faults.splice(index, 1);
    if (planned) answerFault(response, planned.fault);
    else if (seen.query["watch"] === "true") this.#watch(seen, response);
    else answer(response, ...this.#respond(seen));
  }

  #respond(request: SeenRequest): [status: number, body: unknown] {
    const [, namespace, name] =
      /^\/api\/v1(?:\/namespaces\/([^/]+))?\/configmaps(?:\/([^/]+))?/.exec(request.path) ?? [];
    if (name === undefined) return this.#list(request, namespace);
    const object = this.#objects.get(`${namespace ?? ""}/${name}`);
    if (request.method === "PATCH") {
      const fresh = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, uid: `uid-${this.#version}` } };
      const isApply = request.headers["content-type"] === "application/apply-patch+yaml";
      if (object === undefined && !isApply) return status(404, "NotFound");
      const patched = mergePatch(object ?? fresh, request.body) as ConfigMap;
      const wanted = isRecord(request.body) && isRecord(request.body["metadata"]) ? request.body["metadata"] : {};
      const { uid = object?.metadata.uid, resourceVersion = object?.metadata.resourceVersion } = wanted;
      if (object && (uid !== object.metadata.uid || resourceVersion !== object.metadata.resourceVersion)) {
        return status(409, "Conflict");
      }
      return [200, this.#store(patched)];
    }
    if (object === undefined) return status(404, "NotFound");
    if (request.method === "DELETE") this.delete(name);
    return [200, object];
  }

  #list(request: SeenRequest, namespace: string | undefined): [status: number, body: unknown] {
    const { limit, continue: token } = request.query;
    const all = [...this.#objects.values()].filter((object) => !namespace || object.metadata.namespace === namespace);
    const snapshot = token === undefined ? { version: this.#version, rest: all } : this.#snapshots.get(token);
    if (snapshot === undefined) return status(410, "Expired");
    const end = limit === undefined ? Infinity : Number(limit);
    const rest = snapshot.rest.slice(end);
    const next = rest.length > 0 ? `${snapshot.version}-${rest.length}` : "";
    if (next !== "") this.#snapshots.set(next, { version: snapshot.version, rest });
    // Items in lists of built-in kinds have no kind and apiVersion.
    const items = snapshot.rest.slice(0, end).map(({ metadata, data }) => ({ metadata, data }));
    const metadata = { resourceVersion: `${snapshot.version}`, continue: next };
    return [200, { kind: "ConfigMapList", apiVersion: "v1", metadata, items }];
  }

  #watch(request: SeenRequest, response: ServerResponse): void {
    const from = Number(request.query["resourceVersion"]);
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    if (from < this.#forgotten) {
      const [, object] = status(410, "Expired");
      response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
      return;
    }
    for (const event of this.#history) if (event.version > from) response.write(lineOf(event));
    this.#watches.set(response, from);
    response.on("close", () => this.#watches.delete(response));
  }

  #store(object: ConfigMap): ConfigMap {
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    const type = this.#objects.has(key) ? "MODIFIED" : "ADDED";
    const stored = this.#publish(type, object);
    this.#objects.set(key, stored);
    return stored;
  }

  #publish(type: string, object: ConfigMap): ConfigMap {
    this.#version++;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: `${this.#version}` } };
    const event = { version: this.#version, type, object: stored };
    this.#history.push(event);
    this.#send(this.#version, lineOf(event));
    return stored;
  }

  /** A watch from a version that the server does not have yet gets nothing before that version, and no error. */
  #send(version: number, line: string): void {
    for (const [watch, from] of this.#watches) if (version > from) watch.write(line);
  }
}

function lineOf({ type, object }: Event): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function status(code: number, reason: string): [status: number, body: unknown] {
  return [code, { kind: "Status", apiVersion: "v1", status: "Failure", reason, message: `it is ${reason}`, code }];
}

function answer(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function answerFault(response: ServerResponse, fault: Fault): void {
  if (fault === "reset") response.destroy();
  else if (fault !== "silence") response.writeHead(fault.status, fault.headers).end(fault.body);
}

/** RFC 7386. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, name);
    else result[name] = mergePatch(result[name], value);
  }
  return result;
}
