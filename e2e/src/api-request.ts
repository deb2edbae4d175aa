// SPDX-License-Identifier: Apache-2.0
/**
 * What a request to the API server is about, read from its method and URL: for a proxy that must know writes from reads.
 * Usage: `readApiRequest("PATCH", "/api/v1/nodes/worker-1?fieldManager=me", "switchyard")`.
 */

/** One request; the parts of a URL that names no objects (discovery, /readyz) are empty. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Plural: "nodes". */
  readonly resource: string;
  /** "" for a whole collection. */
  readonly name: string;
  /** "status", "eviction"; "" for the object itself. */
  readonly subresource: string;
  /** Of a list or watch; "" for all objects. */
  readonly fieldSelector: string;
  /** Of a list: it is a page after the first. */
  readonly isNextPage: boolean;
  readonly verb: "list" | "watch" | "get" | "write";
  /** Who writes: the field manager, else the program by its User-Agent. */
  readonly writer: string;
}

/** `url` is as in the request line. */
export function readApiRequest(method: string, url: string, userAgent: string): ApiRequest {
  const { pathname, searchParams } = new URL(url, "http://proxy");
  const parts = pathname.split("/").filter((part) => part !== "");
  // /api/<version>/… is core, /apis/<group>/<version>/… all else.
  const place = parts.slice(parts[0] === "api" ? 2 : 3).map(decodeURIComponent);
  // A namespace's own subresources look like collections in it; they are two.
  const isScoped = place[0] === "namespaces" && place.length > 2 && !["status", "finalize"].includes(place[2] ?? "");
  const [resource = "", name = "", ...subresource] = isScoped ? place.slice(2) : place;
  const isWatch = searchParams.get("watch") === "true";
  return {
    method,
    path: pathname,
    resource,
    name,
    subresource: subresource.join("/"),
    fieldSelector: searchParams.get("fieldSelector") ?? "",
    isNextPage: searchParams.has("continue"),
    verb: method !== "GET" ? "write" : isWatch ? "watch" : name === "" ? "list" : "get",
    writer: searchParams.get("fieldManager") ?? userAgent,
  };
}

/** "PATCH /apis/…/sriovnetworknodestates/worker-1 by switchyard-node-state". */
export function describeRequest({ method, path, writer }: ApiRequest): string {
  return `${method} ${path} by ${writer}`;
}
