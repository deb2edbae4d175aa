// SPDX-License-Identifier: Apache-2.0
/**
 * Transport sends authenticated requests and watches to one API server, as JSON over pooled connections. Everything else
 * in this library uses it. connect() makes one.
 * Usage: `await transport.request({ method: "GET", path: objectPath(nodes, { name: "worker-0" }) })`.
 */
import type { KubeObject, ObjectName, ResourceType } from "../kube-object.ts";

/** Content type of a request body. For PATCH it selects the kind of patch. */
export type ContentType =
  "application/json" | "application/apply-patch+yaml" | "application/merge-patch+json" | "application/json-patch+json";

/** Value of `accept` for a response with the metadata only. Writes seldom need more, and an object can be large. */
export const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/** Query parameters. Undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface TransportRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Encoded path without a query, from resourcePath or objectPath. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** "application/json" by default. */
  readonly contentType?: ContentType | undefined;
  /** Media type of the response; "application/json" by default. With one that starts with "text/", the result is the text. */
  readonly accept?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Time limit from the call to the last byte of the response; 30 s by default. */
  readonly timeoutMs?: number | undefined;
  /**
   * Called on the open connection right before the first byte is sent. If it throws, nothing is sent and the request
   * rejects with the error. A leader checks here that its lease is still valid (guard-transport.ts).
   */
  readonly beforeSend?: (() => void) | undefined;
  /**
   * Sends the request over a connection that is reserved for such requests, for the Lease of leader election: a renewal
   * must not wait for other requests that hang.
   */
  readonly reserved?: boolean | undefined;
  /** Called with the server's clock, in milliseconds since 1970, when the head of a response has the header Date. */
  readonly onServerTime?: ((nowMs: number) => void) | undefined;
  /** Called with each warning of a successful response: those of admission webhooks, and of deprecated kinds (RFC 7234, 5.5). */
  readonly onWarning?: ((text: string) => void) | undefined;
}

export interface WatchRequest {
  readonly path: string;
  /** Query with resourceVersion, timeoutSeconds and allowWatchBookmarks. `watch=true` is added. */
  readonly query?: Query | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Time limit for the head of the response, not for the events; 30 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Called when the server has accepted the watch, before the first event. */
  readonly onOpen?: (() => void) | undefined;
}

/** An event of a watch. A BOOKMARK has only a resourceVersion. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/** Disposing it aborts all requests and closes all connections. */
export interface Transport extends AsyncDisposable {
  /** Namespace of the kubeconfig's context or of the pod; "default" if neither has one. */
  readonly namespace: string;
  /** Name or IP address of the API server, without brackets; undefined if it is not known. */
  readonly serverHost?: string | undefined;
  /** TCP port of the API server; undefined if it is not known, or if a proxy is between. */
  readonly serverPort?: number | undefined;

  /**
   * Resolves with the JSON of the response. Rejects with KubeError or the signal's reason. Does not retry; `retryAfterMs` of
   * the error is the delay that the server requests.
   */
  request(request: TransportRequest): Promise<unknown>;

  /**
   * Yields events until the server ends the watch. Throws KubeError for an ERROR event ("Expired" if the server no longer
   * has the resourceVersion) and for a broken connection, and throws the signal's reason. Never yields a partial object.
   */
  watch(request: WatchRequest): AsyncIterable<WatchEvent>;
}

/**
 * collectionPath and objectPath make paths of the API: /api/v1/... for the core group, /apis/<group>/<version>/... else.
 * Returns the path of all objects of a type, in one namespace or in all. Throws TypeError for a cluster-scoped type.
 */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === "" ? "/api" : `/apis/${segment(type.group)}`;
  const scope = namespace === undefined ? "" : `/namespaces/${segment(namespace)}`;
  if (scope !== "" && !type.namespaced)
    throw new TypeError(`${type.kind} is cluster-scoped, but namespace "${namespace}" was given`);
  return `${root}/${segment(type.version)}${scope}/${segment(type.plural)}`;
}

/** Returns the path of an object or of its subresource ("status", "eviction"). Throws TypeError without a namespace. */
export function objectPath(type: ResourceType, { name, namespace }: ObjectName, subresource?: string): string {
  if (type.namespaced && namespace === undefined) throw new TypeError(`${type.kind} ${name} needs a namespace`);
  const tail = subresource === undefined ? "" : `/${segment(subresource)}`;
  return `${collectionPath(type, namespace)}/${segment(name)}${tail}`;
}

/** One segment of a path. encodeURIComponent keeps dots, and a URL drops "." and ".." with what precedes them. */
function segment(text: string): string {
  if (text === "" || text === "." || text === "..") throw new TypeError(`"${text}" cannot be part of an API path`);
  return encodeURIComponent(text);
}
