// SPDX-License-Identifier: Apache-2.0
/**
 * createComponentCluster returns stores of deployed objects, and writers that fill them, for tests of components.
 */
import { upstreamManager } from "@switchyard/api";
import { apiVersionOf, KubeError, ObjectStore, type KubeObject } from "@switchyard/kube";
import type { InventoryItem, Manifest } from "@switchyard/render";
import { silentLogger } from "@switchyard/service/testing";
import {
  createComponentObjects,
  groupByWatch,
  toSeenObject,
  type SeenObject,
} from "../components/component-objects.ts";
import type { SyncDeps } from "../components/sync-components.ts";
import { fieldManagers } from "../field-managers.ts";

/** The client that wrote an object. */
export type ObjectWriter = "us" | "us by update" | "upstream" | "somebody";

export function createComponentCluster(inventory: readonly InventoryItem[]) {
  let version = 0;
  let isHeldBack = false;
  /** Events that the watches have not delivered yet. */
  const late: (() => void)[] = [];
  /** Names of written objects in order; deleted ones start with "-". */
  const history: string[] = [];
  const refusals = new Map<string, KubeError>();
  const live = new Map<string, KubeObject & { readonly webhooks?: unknown }>();

  const watches = groupByWatch(inventory).map(({ type, items: [first, ...more] }) => {
    const cache = new ObjectStore<KubeObject, SeenObject | undefined>({
      type,
      namespace: first.namespace,
      managers: [fieldManagers.components],
      project: toSeenObject,
    });
    cache.beginList();
    cache.endList("0");
    return { type, cache, names: new Set([first, ...more].map(({ name }) => name)) };
  });
  const objects = createComponentObjects(inventory, watches);

  function storeOf(item: InventoryItem) {
    const found = watches.find(({ type, names }) => type.kind === item.type.kind && names.has(item.name));
    if (found === undefined) throw new RangeError(item.name);
    return found.cache;
  }

  function put(item: InventoryItem, object: object, author: ObjectWriter): void {
    const { type, name, namespace } = item;
    const before = live.get(`${type.kind} ${name}`);
    const own = fieldManagers.components;
    const manager = { us: own, "us by update": own, upstream: upstreamManager, somebody: "kubectl" }[author];
    const operation = author === "us" ? "Apply" : "Update";
    const fieldsV1 = Object.fromEntries(Object.keys(object).map((field) => [`f:${field}`, {}]));
    const others = before?.metadata.managedFields ?? [];
    const kept = author === "us" ? others.filter((entry) => entry.manager !== upstreamManager) : others; // adopted
    const whole = {
      ...before,
      ...object,
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: {
        uid: `uid-${name}`,
        generation: 1,
        ...before?.metadata,
        ...("metadata" in object && typeof object.metadata === "object" ? object.metadata : {}),
        name,
        ...(namespace && { namespace }),
        resourceVersion: `${++version}`,
        managedFields: [...kept, { manager, operation, fieldsV1 }],
      },
    };
    live.set(`${type.kind} ${name}`, whole);
    see(() => {
      storeOf(item).upsert(whole);
    });
  }

  function see(arrive: () => void): void {
    if (isHeldBack) late.push(arrive);
    else arrive();
  }

  function itemOf(kind: string, name: string): InventoryItem {
    const item = inventory.find(({ type, ...one }) => type.kind === kind && one.name === name);
    if (item === undefined) throw new RangeError(`${kind} ${name}`);
    return item;
  }

  async function refusal(name: string): Promise<void> {
    const error = refusals.get(name);
    await (error === undefined ? Promise.resolve() : Promise.reject(error));
  }

  const deps: SyncDeps = {
    objects,
    log: silentLogger,
    countNodesWithoutDriver: () => 0,
    write: {
      async apply(manifest: Manifest) {
        await refusal(manifest.metadata.name);
        history.push(manifest.metadata.name);
        put(objects.itemOf(manifest), manifest, "us");
        return "written";
      },
      isObserved: () => true,
      interference: () => undefined,
      async ignoreFailures(item) {
        await refusal(item.name);
        history.push(`${item.name}: Ignore`);
        const { webhooks } = live.get(`${item.type.kind} ${item.name}`) ?? {};
        const ignoring = (Array.isArray(webhooks) ? webhooks : []).map((webhook: object) => ({
          ...webhook,
          failurePolicy: "Ignore",
        }));
        put(item, { webhooks: ignoring }, "us by update");
      },
      async delete(item) {
        await refusal(item.name);
        history.push(`-${item.name}`);
        live.delete(`${item.type.kind} ${item.name}`);
        storeOf(item).remove(item);
      },
    },
  };

  return {
    deps,
    history,
    /** Returns all objects as "DaemonSet daemon". */
    present: () => [...live.keys()].sort(),
    get: (kind: string, name: string) => live.get(`${kind} ${name}`),
    /** Creates or changes an object as this client. */
    put(author: ObjectWriter, kind: string, name: string, object: object = {}): void {
      put(itemOf(kind, name), object, author);
    },
    /** Deletes an object as another client. */
    lose(kind: string, name: string): void {
      const item = itemOf(kind, name);
      live.delete(`${kind} ${name}`);
      storeOf(item).remove(item);
    },
    /** Sets the pod counts in the status of a DaemonSet. */
    roll(
      name: string,
      counts: { readonly desired: number; readonly updated: number; readonly available: number },
    ): void {
      const status = {
        observedGeneration: 1,
        desiredNumberScheduled: counts.desired,
        updatedNumberScheduled: counts.updated,
        numberAvailable: counts.available,
      };
      put(itemOf("DaemonSet", name), { status }, "somebody");
    },
    /** Makes the API server refuse writes to objects of this name; undefined ends that. */
    refuse(name: string, code: string | undefined, status = 403): void {
      if (code === undefined) refusals.delete(name);
      else refusals.set(name, new KubeError(`PATCH ${name}`, code, { status, words: "not today" }));
    },
    /** Holds events back until deliver(). */
    holdBack(): void {
      isHeldBack = true;
    },
    deliver(): void {
      isHeldBack = false;
      for (const arrive of late.splice(0)) arrive();
    },
    /** Makes the API server not serve the kind. */
    unserve(kind: string): void {
      for (const { type, cache } of watches) if (type.kind === kind) cache.notServed();
    },
  };
}
