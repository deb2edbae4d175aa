// SPDX-License-Identifier: Apache-2.0
/**
 * adoptFields takes over the fields that another program wrote by update, such as the operator that Switchyard replaces.
 * They then count as applied by the new manager, so its next apply removes those that its intent does not have; without
 * this they would stay forever. Metadata stays with its owner, since labels, annotations and finalizers are messages
 * between programs that remain valid. The model is client-go's csaupgrade.
 */
import { KubeError } from "../http/kube-error.ts";
import { ownsContent, splitFields } from "../cache/owned-fields.ts";
import { isKubeObject, isRecord, type ManagedFieldsEntry } from "../kube-object.ts";
import { metadataOnly, type Transport } from "../http/transport.ts";

export interface Adoption {
  readonly transport: Transport;
  /** Path of the object. */
  readonly path: string;
  /** "" for the object itself. Only fields that were written through this subresource are adopted. */
  readonly subresource: string;
  /** The new field manager. */
  readonly manager: string;
  /** Field managers whose updated fields are adopted. */
  readonly from: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** Rejects with KubeError: "Conflict" if the object changes at the same time, "NotFound" if it is deleted. */
export async function adoptFields(adoption: Adoption): Promise<void> {
  const { transport, path, subresource, manager, from, signal } = adoption;
  const object = await transport.request({ method: "GET", path, signal });
  if (!isKubeObject(object)) throw new KubeError(`GET ${path}`, "UnexpectedResponse");
  const { managedFields = [], resourceVersion } = object.metadata;

  const isOfSubresource = (entry: ManagedFieldsEntry) => (entry.subresource ?? "") === subresource;
  const inherited = managedFields.filter(
    (entry) => isOfSubresource(entry) && isUpdateBy(entry, from) && ownsContent(entry),
  );
  const [first] = inherited;
  if (first === undefined) return;
  const own = managedFields.find((entry) => {
    return isOfSubresource(entry) && entry.operation === "Apply" && entry.manager === manager;
  });
  const fieldsV1 = inherited.map((entry) => splitFields(entry).content).reduce<unknown>(union, own?.fieldsV1 ?? {});
  const adopted = { ...first, ...own, manager, operation: "Apply", fieldsV1 };
  const others = managedFields.filter((entry) => entry !== own && !inherited.includes(entry));
  const left = inherited.flatMap((entry) => {
    const { metadata } = splitFields(entry);
    return metadata === undefined ? [] : [{ ...entry, fieldsV1: metadata }];
  });
  await transport.request({
    method: "PATCH",
    path,
    contentType: "application/json-patch+json",
    accept: metadataOnly,
    body: [
      { op: "replace", path: "/metadata/managedFields", value: [...others, ...left, adopted] },
      { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion }, // fails if the object has changed
    ],
    signal,
  });
}

/** Reports whether the entry is an update by one of `managers`. */
function isUpdateBy({ manager, operation }: ManagedFieldsEntry, managers: readonly string[]): boolean {
  return operation === "Update" && manager !== undefined && managers.includes(manager);
}

function union(a: unknown, b: unknown): unknown {
  if (!isRecord(a) || !isRecord(b)) return b;
  const merged: Record<string, unknown> = { ...a };
  for (const [name, below] of Object.entries(b)) merged[name] = union(a[name], below);
  return merged;
}
