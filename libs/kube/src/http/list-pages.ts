// SPDX-License-Identifier: Apache-2.0
/**
 * listPages lists objects page by page, all from the same resourceVersion.
 * Usage: `for await (const { items } of listPages(transport, { type: nodes, pageSize: 500 })) console.log(items.length)`.
 */
import { KubeError } from "./kube-error.ts";
import { apiVersionOf, isKubeObject, isRecord, type KubeObject, type ResourceType } from "../kube-object.ts";
import { collectionPath, type Transport } from "./transport.ts";

export interface ListRequest {
  readonly type: ResourceType;
  /** All namespaces by default. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects per page; all in one page by default. */
  readonly pageSize?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Page {
  /** Objects with apiVersion and kind, as a watch returns them. */
  readonly items: readonly KubeObject[];
  /** resourceVersion of the whole list, from which a watch can start. */
  readonly resourceVersion: string;
}

/** Throws KubeError; "Expired" if the server drops the resourceVersion before the last page. */
export async function* listPages(
  transport: Pick<Transport, "request">,
  request: ListRequest,
): AsyncGenerator<Page, void, undefined> {
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

// The items in lists of built-in kinds have no apiVersion and kind; the objects in watch events have them.
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
