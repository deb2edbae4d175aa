// SPDX-License-Identifier: Apache-2.0
/**
 * Takes over the fields that another program wrote by update, before we came: an operator that we replace. From then on
 * they are as if we had applied them, so the next apply takes away what we do not want of them; otherwise they would stay
 * for ever. Metadata stays theirs: by labels, annotations and finalizers programs talk to each other, and what was said
 * there still holds. Model: client-go's csaupgrade.
 * Usage: `await adoptFields({ transport, path, subresource: "", manager, from: ["sriov-network-operator"] })`.
 */
import { KubeError } from "../http/kube-error.ts";
import { isKubeObject, isRecord, type ManagedFieldsEntry } from "../kube-object.ts";
import { metadataOnly, type Transport } from "../http/transport.ts";

export interface Adoption {
  readonly transport: Transport;
  /** Of the object. */
  readonly path: string;
  /** "" for the object itself: only what was written by the same way is taken. */
  readonly subresource: string;
  /** Who takes. */
  readonly manager: string;
  /** Field managers whose updates are taken. */
  readonly from: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** Rejects with KubeError: "Conflict" if the object changes meanwhile, "NotFound" if it goes. */
export async function adoptFields(adoption: Adoption): Promise<void> {
  const { transport, path, subresource, manager, from, signal } = adoption;
  const object = await transport.request({ method: "GET", path, signal });
  if (!isKubeObject(object)) throw new KubeError(`GET ${path}`, "UnexpectedResponse");
  const { managedFields = [], resourceVersion } = object.metadata;

  const isOfSubresource = (entry: ManagedFieldsEntry) => (entry.subresource ?? "") === subresource;
  const theirs = managedFields.filter(
    (entry) => isOfSubresource(entry) && isUpdateBy(entry, from) && ownsContent(entry),
  );
  const [first] = theirs;
  if (first === undefined) return;
  const ours = managedFields.find((entry) => {
    return isOfSubresource(entry) && entry.operation === "Apply" && entry.manager === manager;
  });
  const fieldsV1 = theirs.map((entry) => split(entry).content).reduce<unknown>(union, ours?.fieldsV1 ?? {});
  const adopted = { ...first, ...ours, manager, operation: "Apply", fieldsV1 };
  const others = managedFields.filter((entry) => entry !== ours && !theirs.includes(entry));
  const left = theirs.flatMap((entry) => {
    const { metadata } = split(entry);
    return metadata === undefined ? [] : [{ ...entry, fieldsV1: metadata }];
  });
  await transport.request({
    method: "PATCH",
    path,
    contentType: "application/json-patch+json",
    accept: metadataOnly,
    body: [
      { op: "replace", path: "/metadata/managedFields", value: [...others, ...left, adopted] },
      { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion }, // else of an object that has changed
    ],
    signal,
  });
}

/** Whether the entry says that one of `managers` has written by update. */
export function isUpdateBy({ manager, operation }: ManagedFieldsEntry, managers: readonly string[]): boolean {
  return operation === "Update" && manager !== undefined && managers.includes(manager);
}

/** Whether it owns anything beyond metadata. */
export function ownsContent(entry: ManagedFieldsEntry): boolean {
  return Object.keys(split(entry).content).length > 0;
}

function split({ fieldsV1 }: ManagedFieldsEntry): {
  readonly content: Readonly<Record<string, unknown>>;
  readonly metadata: object | undefined;
} {
  if (!isRecord(fieldsV1)) return { content: {}, metadata: undefined };
  const { "f:metadata": metadata, ...content } = fieldsV1;
  return { content, metadata: metadata === undefined ? undefined : { "f:metadata": metadata } };
}

function union(a: unknown, b: unknown): unknown {
  if (!isRecord(a) || !isRecord(b)) return b;
  const merged: Record<string, unknown> = { ...a };
  for (const [name, below] of Object.entries(b)) merged[name] = union(a[name], below);
  return merged;
}
