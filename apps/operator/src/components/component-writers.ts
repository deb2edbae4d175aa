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
import { fieldManagers } from "../field-managers.ts";
import type { ComponentObjects, ComponentWatch, SeenObject } from "./component-objects.ts";

/** Both reject with KubeError. */
export interface ComponentWriters {
  apply(manifest: Manifest, signal: AbortSignal): Promise<WriteResult>;
  /** Whether what is seen of the object is from after our last write. */
  isObserved(item: InventoryItem): boolean;
  /** Deletes the object as it was seen; "Conflict" if it has changed since. */
  delete(item: InventoryItem, seen: SeenObject, signal: AbortSignal): Promise<void>;
}

export interface ComponentWriterOptions {
  readonly transport: Transport;
  readonly objects: ComponentObjects;
}

/**
 * Fields in which what we want cannot stand beside what is there: nobody may change a selector or a role, which upstream or
 * another release may have chosen otherwise, and a port of a Service that somebody renumbered keeps the name of ours.
 */
const exclusiveFields = /^(spec\.selector|roleRef|spec\.ports\[.*)$/;

export function createComponentWriters({ transport, objects }: ComponentWriterOptions): ComponentWriters {
  const writers = new Map<ComponentWatch, Writer<KubeObject>>(
    objects.watches.map((watch) => {
      const { type, cache } = watch;
      const writer = createWriter({
        transport,
        type,
        cache,
        manager: fieldManagers.components,
        adopts: [upstreamManager],
      });
      return [watch, writer];
    }),
  );

  /** The version that was seen of an object when it was written. */
  const versionsBefore = new Map<InventoryItem, string | undefined>();

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
    async apply({ apiVersion, kind, metadata, ...fields }, signal) {
      const item = objects.itemOf({ apiVersion, kind, metadata });
      const writer = writerOf(item);
      const seen = objects.seen(item);
      const result = await writer.apply({ metadata, ...fields }, signal).catch(async (error: unknown) => {
        if (!needsRecreation(error) || seen?.isDeployed !== true) throw error;
        await remove(item, seen, signal);
        return writer.apply({ metadata, ...fields }, signal);
      });
      if (result === "written") versionsBefore.set(item, seen?.resourceVersion);
      return result;
    },
    isObserved(item) {
      if (versionsBefore.has(item) && versionsBefore.get(item) === objects.seen(item)?.resourceVersion) return false;
      versionsBefore.delete(item);
      return true;
    },
    delete: remove,
  };
}

/** Whether only a new object can be as we want it. */
function needsRecreation(error: unknown): boolean {
  if (!isKubeError(error, "Invalid")) return false;
  const causes = error.details?.causes ?? [];
  return causes.length > 0 && causes.every(({ field = "" }) => exclusiveFields.test(field));
}
