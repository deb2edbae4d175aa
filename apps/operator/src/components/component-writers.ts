// SPDX-License-Identifier: Apache-2.0
/**
 * Writes what was rendered: server-side apply under one field manager, over what upstream's operator left (M-49).
 * Usage: `const write = createComponentWriters({ transport, objects }); await write.apply(manifest, signal);`
 */
import { upstreamManager } from "@switchyard/api";
import {
  createWriter,
  isKubeError,
  type KubeObject,
  type Transport,
  type WriteResult,
  type Writer,
} from "@switchyard/kube";
import type { InventoryItem, Manifest } from "@switchyard/render";
import { managers } from "../managers.ts";
import type { ComponentObjects, ComponentWatch, SeenObject } from "./component-objects.ts";

/** Both reject with KubeError. */
export interface ComponentWriters {
  apply(manifest: Manifest, signal: AbortSignal): Promise<WriteResult>;
  /** Deletes the object as it was seen; "Conflict" if it has changed since. */
  delete(item: InventoryItem, seen: SeenObject, signal: AbortSignal): Promise<void>;
}

export interface ComponentWriterOptions {
  readonly transport: Transport;
  readonly objects: ComponentObjects;
}

/** Fields that the API server lets nobody change: another release, or upstream's, may have chosen them otherwise. */
const immutableFields: readonly (string | undefined)[] = ["spec.selector", "roleRef"];

export function createComponentWriters({ transport, objects }: ComponentWriterOptions): ComponentWriters {
  const writers = new Map<ComponentWatch, Writer<KubeObject>>(
    objects.watches.map((watch) => {
      const { type, cache } = watch;
      const writer = createWriter({ transport, type, cache, manager: managers.components, adopts: [upstreamManager] });
      return [watch, writer];
    }),
  );

  function writerOf(item: InventoryItem): Writer<KubeObject> {
    const writer = writers.get(objects.watchOf(item));
    if (writer === undefined) throw new RangeError(`${item.type.kind} ${item.name} is not watched`);
    return writer;
  }

  async function remove(item: InventoryItem, seen: SeenObject, signal: AbortSignal): Promise<void> {
    const { name, namespace } = item;
    const { uid, resourceVersion } = seen;
    await writerOf(item).delete({ metadata: { name, ...(namespace && { namespace }), uid, resourceVersion } }, signal);
  }

  return {
    async apply({ apiVersion: _, kind: _kind, metadata, ...fields }, signal) {
      const item = objects.itemOf({ apiVersion: _, kind: _kind, metadata });
      const writer = writerOf(item);
      try {
        return await writer.apply({ metadata, ...fields }, signal);
      } catch (error) {
        const seen = objects.seen(item);
        if (!refusesImmutable(error) || seen?.isDeployed !== true) throw error;
        await remove(item, seen, signal);
        return writer.apply({ metadata, ...fields }, signal);
      }
    },
    delete: remove,
  };
}

function refusesImmutable(error: unknown): boolean {
  if (!isKubeError(error, "Invalid")) return false;
  const causes = error.details?.causes ?? [];
  return causes.length > 0 && causes.every(({ field }) => immutableFields.includes(field));
}
