// SPDX-License-Identifier: Apache-2.0
/**
 * patchMetadata sets labels and annotations on objects that other programs own, by merge patch. It sends nothing if the
 * object already has the values.
 * Usage: `await patchMetadata({ transport, type: nodes, object: node, annotations: { [drain]: "Idle" }, signal })`.
 */
import type { ObjectMeta, ResourceType } from "../kube-object.ts";
import { metadataOnly, objectPath, type Transport } from "../http/transport.ts";

/** Values by key; null removes the key. */
export type MetadataChanges = Readonly<Record<string, string | null>>;

export interface MetadataPatch {
  readonly transport: Transport;
  readonly type: ResourceType;
  /** The object in its last known state. With a uid, the patch fails with "Conflict" or "Invalid" on another object. */
  readonly object: { readonly metadata: ObjectMeta };
  readonly labels?: MetadataChanges | undefined;
  readonly annotations?: MetadataChanges | undefined;
  /** If given, the patch fails with "Conflict" on another version of the object. */
  readonly resourceVersion?: string | undefined;
  /** Field manager of the changed values in managedFields; by default, the API server takes it from the user agent. */
  readonly manager?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Returns "unchanged" if nothing was sent. Rejects with KubeError. */
export async function patchMetadata(patch: MetadataPatch): Promise<"written" | "unchanged"> {
  const { metadata } = patch.object;
  const labels = differing(metadata.labels, patch.labels);
  const annotations = differing(metadata.annotations, patch.annotations);
  if (labels === undefined && annotations === undefined) return "unchanged";
  await patch.transport.request({
    method: "PATCH",
    path: objectPath(patch.type, metadata),
    ...(patch.manager === undefined ? {} : { query: { fieldManager: patch.manager } }),
    contentType: "application/merge-patch+json",
    accept: metadataOnly,
    body: { metadata: { uid: metadata.uid, resourceVersion: patch.resourceVersion, labels, annotations } },
    signal: patch.signal,
  });
  return "written";
}

function differing(existing: ObjectMeta["labels"], changes: MetadataChanges = {}): MetadataChanges | undefined {
  const different = Object.entries(changes).filter(([key, value]) => (existing?.[key] ?? null) !== value);
  return different.length === 0 ? undefined : Object.fromEntries(different);
}
