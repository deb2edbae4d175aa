// SPDX-License-Identifier: Apache-2.0
/**
 * Lists objects page by page, all of one moment in time.
 * Usage: `for await (const page of listPages(transport, { type: nodes, pageSize: 500 })) for (const node of page.items) ...`.
 */
import { KubeError } from "./kube-error.ts";
import { apiVersionOf, isKubeObject, isRecord, type KubeObject, type ResourceType } from "../kube-object.ts";
import { collectionPath } from "./resource-path.ts";
import type { Transport } from "./transport.ts";

export interface ListRequest {
  readonly type: ResourceType;
  /** All namespaces unless given. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects in one page; all in one unless given. */
  readonly pageSize?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Page {
  /** In the same shape as a watch gives them, with apiVersion and kind. */
  readonly items: readonly KubeObject[];
  /** Of the whole list: where a watch begins. */
  readonly resourceVersion: string;
}

/** Throws KubeError; "Expired" when the server has forgotten the moment before the last page was asked for. */
export async function* listPages(transport: Transport, request: ListRequest): AsyncGenerator<Page, void, undefined> {
  const { type, namespace, labelSelector, fieldSelector, pageSize, signal } = request;
  const path = collectionPath(type, namespace);
  let next: string | undefined;
  do {
    const query = { labelSelector, fieldSelector, limit: pageSize, continue: next };
    const page = parsePage(await transport.request({ method: "GET", path, query, signal }), type);
    yield page;
    next = page.next;
  } while (next !== undefined);
}

// The server leaves apiVersion and kind of its own kinds out of a list's items, but not out of a watch's events.
function parsePage(body: unknown, type: ResourceType): Page & { readonly next: string | undefined } {
  const typeMeta = { apiVersion: apiVersionOf(type), kind: type.kind };
  if (isRecord(body) && isRecord(body["metadata"])) {
    const { resourceVersion, continue: next } = body["metadata"];
    const list = body["items"] ?? [];
    const items = Array.isArray(list)
      ? list.map((item: unknown) => (isRecord(item) ? { ...typeMeta, ...item } : item))
      : [];
    if (typeof resourceVersion === "string" && Array.isArray(list) && items.every(isKubeObject)) {
      return { items, resourceVersion, next: typeof next === "string" && next !== "" ? next : undefined };
    }
  }
  throw new KubeError(`list ${type.plural}`, "UnexpectedResponse");
}
