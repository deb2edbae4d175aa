// SPDX-License-Identifier: Apache-2.0
/**
 * createMemoryApi returns an API server in memory with the features that the controllers need: apply with
 * managedFields, merge patches, deletion with preconditions and finalizers, and namespaces that must exist. A list has
 * one owner. The full semantics of apply are tested with a real API server (e2e/integration/networks/networks.test.ts).
 */
import { defined } from "@switchyard/api";
import {
  apiVersionOf,
  isKubeObject,
  isRecord,
  KubeError,
  objectPath,
  type KubeObject,
  type ObjectMeta,
  type ObjectName,
  type ObjectSink,
  type ResourceType,
  type Transport,
  type TransportRequest,
} from "@switchyard/kube";

type Fields = Readonly<Record<string, unknown>>;

/** One kind, and the cache of its objects. */
export interface ServedKind {
  readonly type: ResourceType;
  readonly sink: ObjectSink;
}

export interface MemoryApi extends Transport {
  /** Writes through the transport in order: "PATCH /apis/…". */
  readonly writes: string[];
  /** Called for each request. The client gets what it throws instead of the response. */
  fault: (request: TransportRequest) => void;
  /** While false, the caches receive no events; they receive all of them once it is true again. */
  caching: boolean;
  get(type: ResourceType, name: ObjectName): StoredObject | undefined;
  list(type: ResourceType): readonly StoredObject[];
  /** Creates the object or changes these fields, as a user does. null removes a field. */
  put(object: Fields & { readonly kind: string; readonly metadata: ObjectName & Fields }): void;
  delete(type: ResourceType, name: ObjectName): void;
}

export type StoredObject = KubeObject & Fields & { readonly metadata: ObjectMeta & { readonly uid: string } };

export function createMemoryApi(kinds: readonly ServedKind[]): MemoryApi {
  const objects = new Map<string, StoredObject>();
  const unheard: (() => void)[] = [];
  let caching = true;
  let count = 0;

  const api: MemoryApi = {
    namespace: "default",
    writes: [],
    fault: () => undefined,
    get caching() {
      return caching;
    },
    set caching(value) {
      caching = value;
      if (value) for (const notify of unheard.splice(0)) notify();
    },
    get: (type, name) => objects.get(objectPath(type, name)),
    list: ({ kind }) => [...objects.values()].filter((object) => object.kind === kind),
    put(object) {
      const { type } = kindOf((other) => other.kind === object.kind);
      const path = objectPath(type, object.metadata);
      store(path, merge(objects.get(path) ?? fresh(type, object.metadata), object));
    },
    delete(type, name) {
      remove(objectPath(type, name));
    },
    async request(request) {
      await Promise.resolve();
      api.fault(request);
      if (request.method !== "GET") api.writes.push(`${request.method} ${request.path}`);
      return answer(request);
    },
    async *watch() {
      await Promise.reject(new Error("the stores are told without a watch"));
      yield* [];
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return api;

  function answer(request: TransportRequest): unknown {
    const { method, body, contentType } = request;
    const path = request.path.replace(/\/status$/, "");
    const isStatus = path !== request.path;
    const { type } = kindOf((other) => path.includes(`/${other.plural}/`));
    const existing = objects.get(path);
    const [, namespace, name = ""] = /\/namespaces\/([^/]+)\/[^/]+\/([^/]+)$/.exec(path) ?? [];
    const metadata = isRecord(body) && isRecord(body["metadata"]) ? body["metadata"] : {};

    if (existing !== undefined && method === "GET") return existing;
    if (existing !== undefined && method === "DELETE") {
      const wanted = isRecord(body) && isRecord(body["preconditions"]) ? body["preconditions"] : {};
      refuseOthers(request, existing, wanted);
      remove(path);
      return existing;
    }
    if (isRecord(body) && contentType === "application/apply-patch+yaml" && (existing !== undefined || !isStatus)) {
      if (existing === undefined && !objects.has(`/api/v1/namespaces/${namespace ?? ""}`)) {
        throw notFound(request, "namespaces", namespace ?? "");
      }
      refuseOthers(request, existing, metadata);
      const base = existing ?? fresh(type, { name, ...defined({ namespace }) });
      return store(path, withManager(merge(base, body), body, request));
    }
    if (existing !== undefined && method === "PATCH") {
      refuseOthers(request, existing, metadata);
      return store(path, merge(existing, body));
    }
    throw notFound(request, type.plural, name);
  }

  function kindOf(is: (type: ResourceType) => boolean): ServedKind {
    const found = kinds.find(({ type }) => is(type));
    if (found === undefined) throw new RangeError("a kind that is not served");
    return found;
  }

  function fresh(type: ResourceType, { name, namespace }: ObjectName): KubeObject {
    count++;
    const creationTimestamp = new Date(Date.UTC(2026, 10, 20) + count * 1000).toISOString();
    const metadata = { name, ...defined({ namespace }), uid: `uid-${count}`, creationTimestamp };
    return { apiVersion: apiVersionOf(type), kind: type.kind, metadata };
  }

  function store(path: string, object: KubeObject & Fields): StoredObject | undefined {
    count++;
    const before = objects.get(path);
    const { uid = "", finalizers = [], deletionTimestamp, generation = 0 } = object.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0) {
      gone(path);
      return undefined;
    }
    const isNew = JSON.stringify(before?.["spec"]) !== JSON.stringify(object["spec"]);
    const metadata = {
      ...object.metadata,
      uid,
      resourceVersion: `${count}`,
      generation: isNew ? generation + 1 : generation,
    };
    const stored = { ...object, metadata };
    objects.set(path, stored);
    notify(stored, (sink) => {
      sink.upsert(stored);
    });
    return stored;
  }

  function remove(path: string): void {
    const object = objects.get(path);
    if (object === undefined) return;
    const metadata = { ...object.metadata, deletionTimestamp: "2026-11-20T12:00:00Z" };
    store(path, { ...object, metadata });
  }

  function gone(path: string): void {
    const object = objects.get(path);
    objects.delete(path);
    if (object === undefined) return;
    notify(object, (sink) => {
      sink.remove(object.metadata);
    });
  }

  function notify(object: StoredObject, say: (sink: ObjectSink) => void): void {
    const { sink } = kindOf(({ kind }) => kind === object.kind);
    const version = `${count}`;
    const hear = () => {
      say(sink);
      sink.advance(version);
    };
    if (caching) hear();
    else unheard.push(hear);
  }
}

/** Throws "Conflict" if uid or resourceVersion of the request differ from those of the object. */
function refuseOthers(request: TransportRequest, object: StoredObject | undefined, wanted: Fields): void {
  const { uid, resourceVersion } = object?.metadata ?? {};
  const isOther = (value: unknown, real: unknown) => value !== undefined && value !== real;
  if (isOther(wanted["uid"], uid) || isOther(wanted["resourceVersion"], resourceVersion)) {
    throw new KubeError(`${request.method} ${request.path}`, "Conflict", { status: 409 });
  }
}

export function notFound({ method, path }: Pick<TransportRequest, "method" | "path">, kind: string, name: string) {
  return new KubeError(`${method} ${path}`, "NotFound", { status: 404, details: { kind, name } });
}

/** Applies a merge patch (RFC 7386) that must result in an object. */
function merge(object: KubeObject, patch: unknown): KubeObject & Fields {
  const merged = mergeValue(object, patch);
  if (!isKubeObject(merged)) throw new TypeError("no object any more");
  return { ...merged };
}

function mergeValue(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, name);
    else if (value !== undefined) result[name] = mergeValue(result[name], value);
  }
  return result;
}

function withManager(
  object: KubeObject & Fields,
  body: Fields,
  { path, query }: TransportRequest,
): KubeObject & Fields {
  const manager = String(query?.["fieldManager"]);
  const subresource = path.endsWith("/status") ? "status" : "";
  const others = (object.metadata.managedFields ?? []).filter((entry) => {
    return entry.manager !== manager || (entry.subresource ?? "") !== subresource;
  });
  const entry = { manager, operation: "Apply", subresource, fieldsV1: fieldsOf(body) };
  return { ...object, metadata: { ...object.metadata, managedFields: [...others, entry] } };
}

const nobodys = ["apiVersion", "kind", "name", "namespace", "uid"];

function fieldsOf(value: unknown): Fields {
  if (!isRecord(value)) return {};
  const fields = Object.entries(value).filter(([name, field]) => field !== undefined && !nobodys.includes(name));
  return Object.fromEntries(fields.map(([name, field]) => [`f:${name}`, fieldsOf(field)]));
}
