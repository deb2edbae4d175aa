// SPDX-License-Identifier: Apache-2.0
/**
 * Labels and annotations on objects that are not ours, by merge patch; nothing is sent when they are so already.
 * Usage: `await patchMetadata({ transport, type: nodes, object: node, annotations: { [drain]: "Idle" }, signal })`.
 */
import type { ObjectMeta, ResourceType } from "../kube-object.ts";
import { objectPath } from "../http/resource-path.ts";
import { metadataOnly, type Transport } from "../http/transport.ts";

/** Values by key; null takes the key away. */
export type MetadataChanges = Readonly<Record<string, string | null>>;

export interface MetadataPatch {
  readonly transport: Transport;
  readonly type: ResourceType;
  /** As last seen. With a uid, only that very object is changed: "Conflict" or "Invalid" once another has its name. */
  readonly object: { readonly metadata: ObjectMeta };
  readonly labels?: MetadataChanges;
  readonly annotations?: MetadataChanges;
  /** "Conflict" if the object is no longer of this version. */
  readonly resourceVersion?: string;
  readonly signal?: AbortSignal;
}

/** Whether anything was sent. Rejects with KubeError. */
export async function patchMetadata(patch: MetadataPatch): Promise<"written" | "unchanged"> {
  const { metadata } = patch.object;
  const labels = differing(metadata.labels, patch.labels);
  const annotations = differing(metadata.annotations, patch.annotations);
  if (labels === undefined && annotations === undefined) return "unchanged";
  await patch.transport.request({
    method: "PATCH",
    path: objectPath(patch.type, metadata),
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
