// SPDX-License-Identifier: Apache-2.0
/**
 * plainReplay turns the writes of a measured program, as the API server has logged them, into writes of the same number and size for
 * the plain client. They change what the program ignores: annotations in place of labels, and objects in another namespace or
 * with other names. Pure.
 */
import { isRecord, metadataOnly } from "@switchyard/kube";
import type { AuditEvent } from "@switchyard/testing";
import { plainNamespace } from "./nodes.ts";
import type { PlainRequest } from "./plain-client.ts";

/** Prefix of the names of cluster-scoped objects that the plain client writes. Nodes keep their names. */
export const plainPrefix = "plain-";

/** Returns the writes, grouped by object. Those of one object must be sent one after the other. */
export function plainReplay(writes: readonly AuditEvent[]): readonly (readonly PlainRequest[])[] {
  return [...Map.groupBy(writes.map(requestOf), objectOf).values()];
}

/** Size of the bodies in bytes. */
export function bytesOf(groups: readonly (readonly PlainRequest[])[]): number {
  return groups
    .flat()
    .reduce((sum, { body }) => sum + (body === undefined ? 0 : Buffer.byteLength(JSON.stringify(body))), 0);
}

const methods: Readonly<Record<string, PlainRequest["method"]>> = {
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

function requestOf({ verb, requestURI, objectRef: { resource } = {}, requestObject }: AuditEvent): PlainRequest {
  const method = methods[verb] ?? "GET";
  const isNamespaced = requestURI.includes("/namespaces/");
  const renames = !isNamespaced && resource !== undefined && resource !== "nodes";
  const uri = requestURI
    .replace(/\/namespaces\/[^/?]+/, `/namespaces/${plainNamespace}`)
    .replace(/fieldManager=[^&]+/, "fieldManager=plain")
    .replace(/&timeout=[^&]+/, ""); // what was left of the lease
  const path = renames ? uri.replace(`/${resource}/`, `/${resource}/${plainPrefix}`) : uri;
  if (method === "DELETE") return { method, path }; // without preconditions, which are about the other object
  const body = moved(requestObject, { isNamespaced, renames });
  const isApply = method === "PATCH" && isRecord(body) && "apiVersion" in body;
  const contentType = isApply ? "application/apply-patch+yaml" : "application/merge-patch+json";
  return { method, path, body, accept: metadataOnly, ...(method === "PATCH" && { contentType }) };
}

/** The path of the object, with which creations and later writes of the same object agree. */
function objectOf({ method, path, body }: PlainRequest): string {
  const [plain = ""] = path.split("?", 1);
  const name = isRecord(body) && isRecord(body["metadata"]) ? body["metadata"]["name"] : undefined;
  return (method === "POST" ? `${plain}/${String(name)}` : plain).replace(/\/status$/, "");
}

function moved(body: unknown, { isNamespaced, renames }: { isNamespaced: boolean; renames: boolean }): unknown {
  if (!isRecord(body) || !isRecord(body["metadata"])) return body;
  const { labels, resourceVersion: _, uid, ...metadata } = body["metadata"];
  const { namespace, name, annotations } = metadata;
  const { regarding } = body; // of an event, which must be in the namespace of its object
  return {
    ...body,
    ...(isRecord(regarding) && { regarding: { ...regarding, namespace: plainNamespace } }),
    metadata: {
      ...metadata,
      ...(uid !== undefined && !isNamespaced && !renames && { uid }),
      ...(namespace !== undefined && { namespace: plainNamespace }),
      ...(typeof name === "string" && renames && { name: `${plainPrefix}${name}` }),
      // The program does not read these annotations. Text is as large in either place.
      ...(labels !== undefined && {
        annotations: { ...(isRecord(annotations) && annotations), ...(isRecord(labels) && labels) },
      }),
    },
  };
}
