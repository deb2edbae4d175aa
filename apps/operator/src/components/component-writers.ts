// SPDX-License-Identifier: Apache-2.0
/**
 * ComponentWriters writes rendered objects by server-side apply under one field manager, and adopts the fields that
 * upstream's operator left (sriov-operator.md M-49).
 */
import { defined, upstreamManager } from "@switchyard/api";
import {
  createWriter,
  isKubeError,
  isKubeObject,
  KubeError,
  objectPath,
  systemClock,
  type Interference,
  type KubeObject,
  type Transport,
  type WriteResult,
  type Writer,
} from "@switchyard/kube";
import type { InventoryItem, Manifest } from "@switchyard/render";
import { fieldManagers } from "../field-managers.ts";
import type { ComponentObjects, ComponentWatch, SeenObject } from "./component-objects.ts";
import { failingWebhooks } from "./webhook-registrations.ts";

/** apply and delete reject with KubeError. */
export interface ComponentWriters {
  apply(manifest: Manifest, signal: AbortSignal): Promise<WriteResult>;
  /** Returns what others do to the fields that apply() sets. */
  interference(manifest: Manifest): Interference | undefined;
  /** Reports whether the cache shows the object as of the last write or later. */
  isObserved(item: InventoryItem): boolean;
  /**
   * Lets the API server admit requests that the webhooks of a registration do not answer, by one write that changes nothing else.
   * Rejects with "Conflict" if the registration changes at the same time.
   */
  ignoreFailures(item: InventoryItem, signal: AbortSignal): Promise<void>;
  /** Deletes the object. Rejects with "Conflict" if it has changed since it was `seen`. */
  delete(item: InventoryItem, seen: SeenObject, signal: AbortSignal): Promise<void>;
}

export interface ComponentWriterOptions {
  readonly transport: Transport;
  readonly objects: ComponentObjects;
}

/**
 * Fields that an apply cannot correct: spec.selector and roleRef are immutable, and upstream or another release may
 * have set other values. A port of a Service that a user renumbered still has the name of the wanted port.
 */
const recreatedFields = /^(spec\.selector|roleRef|spec\.ports\[.*|webhooks\[\d+\]\.clientConfig)$/;

/** Fields of a ConfigMap that somebody has made immutable. */
const frozenFields = /^(data|immutable)$/;

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
        watchOthers: systemClock,
      });
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
    await writerOf(item).delete({ metadata: { name, ...defined({ namespace }), uid, resourceVersion } }, signal);
  }

  return {
    async apply({ apiVersion, kind, metadata, ...fields }, signal) {
      const item = objects.itemOf({ apiVersion, kind, metadata });
      const writer = writerOf(item);
      const seen = objects.seen(item);
      return writer.apply({ metadata, ...fields }, signal).catch(async (error: unknown) => {
        if (!needsRecreation(error) || seen?.isDeployed !== true) throw error;
        await remove(item, seen, signal);
        return writer.apply({ metadata, ...fields }, signal);
      });
    },
    interference: (manifest) => writerOf(objects.itemOf(manifest)).interference(manifest),
    isObserved(item) {
      const { name, namespace } = item;
      return writerOf(item).shows({ metadata: { name, ...defined({ namespace }) } });
    },
    async ignoreFailures({ type, name }, signal) {
      const path = objectPath(type, { name });
      const live = await transport.request({ method: "GET", path, signal });
      if (!isKubeObject(live)) throw new KubeError(`GET ${path}`, "UnexpectedResponse");
      // The write fails if the registration has changed: the indexes would be those of other webhooks.
      const version = { op: "replace", path: "/metadata/resourceVersion", value: live.metadata.resourceVersion };
      const changes = failingWebhooks(live).map((index) => {
        return { op: "replace", path: `/webhooks/${index}/failurePolicy`, value: "Ignore" };
      });
      if (changes.length === 0) return;
      const query = { fieldManager: fieldManagers.components };
      const contentType = "application/json-patch+json";
      await transport.request({ method: "PATCH", path, query, contentType, body: [...changes, version], signal });
    },
    delete: remove,
  };
}

/** Reports whether the object must be deleted and created again. */
function needsRecreation(error: unknown): boolean {
  if (!isKubeError(error, "Invalid")) return false;
  const causes = error.details?.causes ?? [];
  const isImmutable = ({ field = "", reason }: (typeof causes)[number]): boolean =>
    recreatedFields.test(field) || (reason === "FieldValueForbidden" && frozenFields.test(field));
  return causes.length > 0 && causes.every(isImmutable);
}
