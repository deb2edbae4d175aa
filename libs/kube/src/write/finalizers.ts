// SPDX-License-Identifier: Apache-2.0
/**
 * Finalizers: what keeps a deleted object until our part of the cleaning is done. Nothing is sent when nothing changes.
 * Usage: `await addFinalizer({ transport, type, object, finalizer: "switchyard.io/nad", signal })`.
 */
import { isKubeError } from "../http/kube-error.ts";
import type { ObjectMeta, ResourceType } from "../kube-object.ts";
import { objectPath } from "../http/resource-path.ts";
import { metadataOnly, type Transport } from "../http/transport.ts";

export interface FinalizerChange {
  readonly transport: Transport;
  readonly type: ResourceType;
  /** As last seen, with its resourceVersion: the list is replaced whole, so "Conflict" if the object has changed since. */
  readonly object: { readonly metadata: ObjectMeta };
  readonly finalizer: string;
  readonly signal?: AbortSignal;
}

/** Rejects with KubeError. */
export async function addFinalizer(change: FinalizerChange): Promise<"written" | "unchanged"> {
  const finalizers = change.object.metadata.finalizers ?? [];
  if (finalizers.includes(change.finalizer)) return "unchanged";
  return replace(change, [...finalizers, change.finalizer]);
}

/** An object that is gone has no finalizers: that is success. Otherwise rejects with KubeError. */
export async function removeFinalizer(change: FinalizerChange): Promise<"written" | "unchanged"> {
  const finalizers = change.object.metadata.finalizers ?? [];
  const rest = finalizers.filter((finalizer) => finalizer !== change.finalizer);
  if (rest.length === finalizers.length) return "unchanged";
  try {
    return await replace(change, rest);
  } catch (error) {
    if (isKubeError(error, "NotFound")) return "unchanged";
    throw error;
  }
}

async function replace(change: FinalizerChange, finalizers: readonly string[]): Promise<"written"> {
  const { uid, resourceVersion } = change.object.metadata;
  await change.transport.request({
    method: "PATCH",
    path: objectPath(change.type, change.object.metadata),
    contentType: "application/merge-patch+json",
    accept: metadataOnly,
    body: { metadata: { uid, resourceVersion, finalizers } },
    signal: change.signal,
  });
  return "written";
}
