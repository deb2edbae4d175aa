// SPDX-License-Identifier: Apache-2.0
/**
 * plainReplay turns the writes of ovn-offload, as the API server has logged them, into writes of the same number and size for the
 * plain client. They change what ovn-offload ignores: annotations in place of labels, and objects in other namespaces or
 * with other names. Pure.
 */
import { isRecord } from "@switchyard/kube";
import { isWrite, type AuditEvent } from "@switchyard/testing";
import { plainNamespace } from "../cluster/nodes.ts";
import { metadataOnly, type PlainRequest } from "../cluster/plain-client.ts";

/** The name of the DNS that the plain client changes. */
export const plainDnsName = "plain";

/** Returns the writes, grouped by object. Those of one object must be sent one after the other. */
export function plainReplay(events: readonly AuditEvent[]): readonly (readonly PlainRequest[])[] {
  const writes = events.filter((event) => isReplayed(event)).map(requestOf);
  return [...Map.groupBy(writes, objectOf).values()];
}

/** Size of the bodies in bytes. */
export function bytesOf(groups: readonly (readonly PlainRequest[])[]): number {
  return groups
    .flat()
    .reduce((sum, { body }) => sum + (body === undefined ? 0 : Buffer.byteLength(JSON.stringify(body))), 0);
}

/** Reports whether a write was accepted and is not about a lease, which is renewed for ever. */
export function isReplayed(event: AuditEvent): boolean {
  const { objectRef, responseStatus } = event;
  return isWrite(event) && objectRef?.resource !== "leases" && (responseStatus?.code ?? 0) < 400;
}

const methods: Readonly<Record<string, PlainRequest["method"]>> = {
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

function requestOf({ verb, requestURI, objectRef, requestObject }: AuditEvent): PlainRequest {
  const method = methods[verb] ?? "GET";
  const path = movedPath(requestURI, objectRef?.resource);
  if (method === "DELETE") return { method, path };
  const body = moved(requestObject, objectRef?.resource);
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

function movedPath(uri: string, resource: string | undefined): string {
  const path = uri
    .replace(/\/namespaces\/[^/?]+/, `/namespaces/${plainNamespace}`)
    .replace(/fieldManager=[^&]+/, "fieldManager=plain")
    .replace(/&timeout=[^&]+/, "") // what was left of the lease
    .replace(/\/machineconfigs\/99-/, "/machineconfigs/98-");
  return resource === "dnses" ? path.replace(/\/dnses\/[^/?]+/, `/dnses/${plainDnsName}`) : path;
}

function moved(body: unknown, resource: string | undefined): unknown {
  if (!isRecord(body) || !isRecord(body["metadata"])) return body;
  const { labels, resourceVersion: _, ...metadata } = body["metadata"];
  const { namespace, name, annotations } = metadata;
  const { regarding } = body; // of an event, which must be in the namespace of its object
  return {
    ...body,
    ...(isRecord(regarding) && { regarding: { ...regarding, namespace: plainNamespace } }),
    metadata: {
      ...metadata,
      ...(namespace !== undefined && { namespace: plainNamespace }),
      ...(resource === "machineconfigs" && { name: String(name).replace(/^99-/, "98-") }),
      // ovn-offload does not read these annotations. Text is as large in either place.
      ...(labels !== undefined && {
        annotations: { ...(isRecord(annotations) && annotations), ...(isRecord(labels) && labels) },
      }),
    },
  };
}
