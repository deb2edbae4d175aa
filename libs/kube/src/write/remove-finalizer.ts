// SPDX-License-Identifier: Apache-2.0
/**
 * removeFinalizer removes a finalizer from an object. It sends nothing if the object does not have the finalizer.
 * Usage: `await removeFinalizer({ transport, type, object, finalizer: "switchyard.io/nad", signal })`.
 */
import { isKubeError } from "../http/kube-error.ts";
import type { ObjectMeta, ResourceType } from "../kube-object.ts";
import { metadataOnly, objectPath, type Transport } from "../http/transport.ts";

export interface FinalizerRemoval {
  readonly transport: Transport;
  readonly type: ResourceType;
  /** The object with its resourceVersion. The whole list is replaced, so the API server must see the same version. */
  readonly object: { readonly metadata: ObjectMeta };
  readonly finalizer: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Rejects with KubeError; "Conflict" if the object has changed. An object that does not exist has no finalizers, so the
 * result is "unchanged".
 */
export async function removeFinalizer(removal: FinalizerRemoval): Promise<"written" | "unchanged"> {
  const { metadata } = removal.object;
  const { uid, resourceVersion, finalizers = [] } = metadata;
  const rest = finalizers.filter((finalizer) => finalizer !== removal.finalizer);
  if (rest.length === finalizers.length) return "unchanged";
  try {
    await removal.transport.request({
      method: "PATCH",
      path: objectPath(removal.type, metadata),
      contentType: "application/merge-patch+json",
      accept: metadataOnly,
      body: { metadata: { uid, resourceVersion, finalizers: rest } },
      signal: removal.signal,
    });
    return "written";
  } catch (error) {
    if (isKubeError(error, "NotFound")) return "unchanged";
    throw error;
  }
}
