// SPDX-License-Identifier: Apache-2.0
/**
 * What there is of all that we may have deployed (the inventory), and nothing else of the cluster: objects outside of
 * namespaces are watched by name, so that permissions can be given for these names only; those in our namespace by kind.
 * Not by a label of ours: what upstream's operator left has none, and somebody may have taken it off.
 * Usage: `await using objects = watchComponentObjects({ transport, settings, report });`
 */
import { sriovOperatorConfigs, upstreamManager, type ResourceType } from "@switchyard/api";
import {
  apiVersionOf,
  joinWatches,
  watchObjects,
  type Cache,
  type FailedWatch,
  type JoinedWatches,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";
import { componentInventory, type ComponentSettings, type InventoryItem, type Manifest } from "@switchyard/render";
import { fieldManagers } from "../field-managers.ts";
import { failsClosed, isRegistration } from "./webhook-registrations.ts";
import { readRollout, type Rollout } from "./rollout.ts";

/** What is kept of an object. */
export interface SeenObject {
  readonly uid: string;
  /** Not in `metadata`, so that each change of the object shows: somebody may have edited what is ours. */
  readonly resourceVersion: string;
  /** Whether it is an operator's, ours or upstream's. An object of the same name by somebody else is not ours to delete. */
  readonly isDeployed: boolean;
  /** Whether the garbage collector deletes it with its owner. */
  readonly hasOwner: boolean;
  /** Whether it is being deleted. */
  readonly isTerminating: boolean;
  /** Of a DaemonSet. */
  readonly rollout: Rollout | undefined;
  /** Of a registration of webhooks: whether what they do not answer is refused, and we said so. */
  readonly failsClosed: boolean;
}

/** The objects of a kind, or one of them. What is not in the inventory is undefined. */
export interface ComponentWatch {
  readonly type: ResourceType;
  readonly cache: Cache<SeenObject | undefined>;
}

export interface ComponentObjects {
  readonly inventory: readonly InventoryItem[];
  readonly watches: readonly ComponentWatch[];
  /** The inventory's entry for an object that was rendered. Throws RangeError if it has none. */
  itemOf(manifest: Manifest): InventoryItem;
  watchOf(item: InventoryItem): ComponentWatch;
  seen(item: InventoryItem): SeenObject | undefined;
}

export type WatchedComponentObjects = ComponentObjects & JoinedWatches;

export interface WatchComponentOptions {
  readonly transport: Transport;
  readonly settings: ComponentSettings;
  readonly report: (error: unknown, at: FailedWatch) => void;
}

export function watchComponentObjects({ transport, settings, report }: WatchComponentOptions): WatchedComponentObjects {
  const inventory = componentInventory(settings);
  const watches = groupByWatch(inventory).map(({ type, items: [first, ...more] }) => {
    const names = new Set([first, ...more].map(({ name }) => name));
    const cache = watchObjects({
      ...{ transport, type, report, namespace: first.namespace },
      optional: true, // no Prometheus operator, no ServiceMonitor
      ...(more.length === 0 ? { fieldSelector: `metadata.name=${first.name}` } : {}),
      project: (object: KubeObject) => (names.has(object.metadata.name) ? toSeenObject(object) : undefined),
      managers: [fieldManagers.components],
    });
    return { type, names, cache };
  });
  return Object.assign(joinWatches(watches.map(({ cache }) => cache)), createComponentObjects(inventory, watches));
}

/** Over caches that somebody fills. */
export function createComponentObjects(
  inventory: readonly InventoryItem[],
  watches: readonly (ComponentWatch & { readonly names: ReadonlySet<string> })[],
): ComponentObjects {
  const items = new Map(inventory.map((item) => [keyOfItem(item), item]));
  const byItem = new Map(
    inventory.map((item) => [
      keyOfItem(item),
      watches.find(({ type, names }) => isSameKind(type, item.type) && names.has(item.name)),
    ]),
  );

  function itemOf({ apiVersion, kind, metadata }: Manifest): InventoryItem {
    const item = items.get(`${apiVersion} ${kind} ${metadata.name}`);
    if (item === undefined) throw new RangeError(`${kind} ${metadata.name} is not in the inventory`);
    return item;
  }

  function watchOf(item: InventoryItem): ComponentWatch {
    const watch = byItem.get(keyOfItem(item));
    if (watch === undefined) throw new RangeError(`${item.type.kind} ${item.name} is not watched`);
    return watch;
  }

  return { inventory, watches, itemOf, watchOf, seen: (item) => watchOf(item).cache.get(item.name) };
}

/** Where all that one watch can see is in one group. */
export function groupByWatch(
  inventory: readonly InventoryItem[],
): readonly { readonly type: ResourceType; readonly items: readonly [InventoryItem, ...InventoryItem[]] }[] {
  const groups: { type: ResourceType; items: [InventoryItem, ...InventoryItem[]] }[] = [];
  for (const item of inventory) {
    const group = groups.find(({ type, items: [first] }) => {
      return item.namespace !== undefined && item.namespace === first.namespace && isSameKind(type, item.type);
    });
    if (group === undefined) groups.push({ type: item.type, items: [item] });
    else group.items.push(item);
  }
  return groups;
}

export function toSeenObject(object: KubeObject): SeenObject {
  const {
    uid = "",
    resourceVersion = "",
    managedFields = [],
    ownerReferences = [],
    deletionTimestamp,
  } = object.metadata;
  return {
    uid,
    resourceVersion,
    isDeployed:
      managedFields.some(({ manager }) => writers.includes(manager)) ||
      ownerReferences.some(({ kind }) => kind === sriovOperatorConfigs.kind),
    hasOwner: ownerReferences.length > 0,
    isTerminating: deletionTimestamp !== undefined,
    rollout: object.kind === "DaemonSet" ? readRollout(object) : undefined,
    failsClosed: isRegistration(object) && failsClosed(object),
  };
}

const writers: readonly (string | undefined)[] = [fieldManagers.components, upstreamManager];

function keyOfItem({ type, name }: InventoryItem): string {
  return `${apiVersionOf(type)} ${type.kind} ${name}`;
}

function isSameKind(one: ResourceType, other: ResourceType): boolean {
  return one.group === other.group && one.kind === other.kind;
}
