// SPDX-License-Identifier: Apache-2.0
/**
 * The way to one API server: authenticated requests and watches in raw JSON over pooled connections. All else in this
 * lib is built on it; `connect()` makes one.
 * Usage: `await transport.request({ method: "GET", path: objectPath(nodes, { name: "worker-0" }) })`.
 */
import type { KubeObject } from "../kube-object.ts";

/** What a request's body is; for PATCH, how it is to be merged. */
export type ContentType =
  "application/json" | "application/apply-patch+yaml" | "application/merge-patch+json" | "application/json-patch+json";

/** Accepts the metadata of an object alone: of a write's answer often all that is needed, and the whole may be large. */
export const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/** Query parameters; those that are undefined are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface TransportRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Encoded, without a query: resource-path.ts makes them. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** "application/json" unless given. */
  readonly contentType?: ContentType | undefined;
  /** What the answer shall be; "application/json" unless given. */
  readonly accept?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** From the call to the last byte of the answer; 30 s unless given. */
  readonly timeoutMs?: number | undefined;
  /**
   * Called on the open connection, right before the first byte goes out. If it throws, nothing is sent and the request
   * rejects with that: the last moment for a leader to find that it leads no more (leader-election-guard.ts).
   */
  readonly beforeSend?: (() => void) | undefined;
  /**
   * Goes over the one connection that is reserved for such requests, and waits for no other request but these. For the
   * lease of leader election: renewals must not queue behind writes that hang.
   */
  readonly reserved?: boolean | undefined;
}

export interface WatchRequest {
  readonly path: string;
  /** With resourceVersion, timeoutSeconds, allowWatchBookmarks; `watch=true` is added. */
  readonly query?: Query | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For the head of the answer, not for the events; 30 s unless given. */
  readonly timeoutMs?: number | undefined;
  /** Called when the server has accepted the watch, before the first event. */
  readonly onOpen?: (() => void) | undefined;
}

/** One change. A BOOKMARK carries nothing but metadata.resourceVersion, so its name is absent. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/** Disposing it ends what is under way and closes all connections. */
export interface Transport extends AsyncDisposable {
  /** The namespace of the kubeconfig's context or of the pod; "default" where neither says. */
  readonly namespace: string;

  /**
   * The answer's JSON. Rejects with KubeError, or with the signal's reason. Nothing is tried twice here: `retryAfterMs`
   * of the error says what the server asks for.
   */
  request(request: TransportRequest): Promise<unknown>;

  /**
   * Events as they come; ends when the server ends the watch in order. Throws KubeError on the server's ERROR event
   * ("Expired" for a resourceVersion that is gone) and on a connection that is cut, never half an object; throws the
   * signal's reason.
   */
  watch(request: WatchRequest): AsyncIterable<WatchEvent>;
}
