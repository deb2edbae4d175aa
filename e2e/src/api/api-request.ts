// SPDX-License-Identifier: Apache-2.0
/** readApiRequest reads the object and the kind of a request to the API server from its method and URL. */

/** A request. The members are empty for a URL that names no object, such as discovery or /readyz. */
export interface ApiRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The plural name, such as "nodes". */
  readonly resource: string;
  /** The object's name; "" for a collection. */
  readonly name: string;
  /** "status", "eviction"; "" for the object itself. */
  readonly subresource: string;
  /** The field selector of a list or watch; "" for all objects. */
  readonly fieldSelector: string;
  /** Whether the request is for a page of a list after the first. */
  readonly isNextPage: boolean;
  readonly verb: "list" | "watch" | "get" | "write";
  /** The field manager, or the program in the User-Agent if there is none. */
  readonly writer: string;
}

/** Reads a request. `url` is the path and query of the request line. */
export function readApiRequest(method: string, url: string, userAgent: string): ApiRequest {
  const { pathname, searchParams } = new URL(url, "http://proxy");
  const parts = pathname.split("/").filter((part) => part !== "");
  // /api/<version>/… is the core group, /apis/<group>/<version>/… all other groups.
  const place = parts.slice(parts[0] === "api" ? 2 : 3).map(decodeURIComponent);
  // The two subresources of a namespace look like collections in it.
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
