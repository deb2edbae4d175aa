// SPDX-License-Identifier: Apache-2.0
/**
 * ComponentObjects caches the objects of the inventory, which lists all objects that the operator may deploy.
 * Cluster-scoped objects are watched by name, so that permissions can be limited to these names. Objects in the
 * operator's namespace are watched by kind. They are not selected by a label: objects of upstream's operator have none,
 * and users can remove labels.
 */
import { defined, sriovOperatorConfigs, upstreamManager, type ResourceType } from "@switchyard/api";
import {
  apiVersionOf,
  joinWatches,
  watchObjects,
  type Cache,
  type FailedWatch,
  type JoinedWatches,
  type KubeObject,
  type ServedGroups,
  type Transport,
  isRecord,
  recordAt,
} from "@switchyard/kube";
import {
  componentInventory,
  injectorConfigKey,
  injectorConfigName,
  type ComponentSettings,
  type InventoryItem,
  type Manifest,
} from "@switchyard/render";
import type { Labels } from "@switchyard/policy";
import { fieldManagers } from "../field-managers.ts";
import { readRollout, type Rollout } from "./rollout.ts";
import { reviewPathIn } from "./review-path.ts";
import { failsClosed, hasFailPolicy, isRegistration } from "./webhook-registrations.ts";

/** The parts of an object that are cached. */
export interface SeenObject {
  readonly uid: string;
  /** Outside of `metadata`, so that every change of the object causes an event: another client may have edited it. */
  readonly resourceVersion: string;
  /** Whether this operator or upstream's deployed it. An object of the same name from another client is not deleted. */
  readonly isDeployed: boolean;
  /** Whether it has an owner, with which the garbage collector deletes it. */
  readonly hasOwner: boolean;
  /** Whether it is being deleted. */
  readonly isTerminating: boolean;
  /** Only for a DaemonSet. */
  readonly rollout: Rollout | undefined;
  /** Of a DaemonSet: the labels of the nodes on which its pods run. */
  readonly nodeSelector?: Labels | undefined;
  /** For a webhook registration: whether this operator set failurePolicy Fail. */
  readonly failsClosed: boolean;
  /** For a webhook registration: whether requests that no webhook answers are refused, by whoever set it. */
  readonly refuses: boolean;
  /** Of the injector's ConfigMap: its configuration, which users extend. */
  readonly injectorConfig?: string | undefined;
  /** Of a webhook registration: its secret path. Of a DaemonSet: the one that its pods get. Absent without one. */
  readonly reviewPath?: string | undefined;
}

/** A watch of one object or of all objects of a kind. Objects that are not in the inventory are undefined. */
export interface ComponentWatch {
  readonly type: ResourceType;
  readonly cache: Cache<SeenObject | undefined>;
}

export interface ComponentObjects {
  readonly inventory: readonly InventoryItem[];
  readonly watches: readonly ComponentWatch[];
  /** Returns the inventory's entry for a rendered object. Throws RangeError if there is none. */
  itemOf(manifest: Manifest): InventoryItem;
  watchOf(item: InventoryItem): ComponentWatch;
  seen(item: InventoryItem): SeenObject | undefined;
}

export type WatchedComponentObjects = ComponentObjects & JoinedWatches;

export interface WatchComponentOptions {
  readonly transport: Transport;
  /** For kinds that may be missing. */
  readonly groups?: ServedGroups;
  readonly settings: ComponentSettings;
  readonly report: (error: unknown, at: FailedWatch) => void;
}

/** SyncFailure is an object that could not be applied or deleted, and why. */
export interface SyncFailure {
  readonly kind: string;
  readonly name: string;
  readonly error: unknown;
}

export function watchComponentObjects({
  transport,
  groups,
  settings,
  report,
}: WatchComponentOptions): WatchedComponentObjects {
  const inventory = componentInventory(settings);
  const watches = groupByWatch(inventory).map(({ type, items: [first, ...more] }) => {
    const names = new Set([first, ...more].map(({ name }) => name));
    const cache = watchObjects({
      transport,
      groups,
      type,
      report,
      namespace: first.namespace,
      optional: true, // without the Prometheus operator, there is no ServiceMonitor
      ...(more.length === 0 ? { fieldSelector: `metadata.name=${first.name}` } : {}),
      project: (object: KubeObject) => (names.has(object.metadata.name) ? toSeenObject(object) : undefined),
      managers: [fieldManagers.components],
    });
    return { type, names, cache };
  });
  return Object.assign(joinWatches(watches.map(({ cache }) => cache)), createComponentObjects(inventory, watches));
}

/** Returns ComponentObjects for caches that the caller fills. */
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

/** Groups the items so that one watch covers each group. */
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
    refuses: isRegistration(object) && hasFailPolicy(object),
    ...defined({
      nodeSelector: nodeSelectorOf(object),
      injectorConfig: injectorConfigOf(object),
      reviewPath: reviewPathIn(object),
    }),
  };
}

function nodeSelectorOf(object: KubeObject & { readonly spec?: unknown }): Labels | undefined {
  if (object.kind !== "DaemonSet") return undefined;
  const selector = recordAt(object.spec, "template", "spec", "nodeSelector");
  return Object.fromEntries(
    Object.entries(selector).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function injectorConfigOf(object: KubeObject & { readonly data?: unknown }): string | undefined {
  if (object.kind !== "ConfigMap" || object.metadata.name !== injectorConfigName || !isRecord(object.data))
    return undefined;
  const text = object.data[injectorConfigKey];
  return typeof text === "string" ? text : undefined;
}

const writers: readonly (string | undefined)[] = [fieldManagers.components, upstreamManager];

function keyOfItem({ type, name }: InventoryItem): string {
  return `${apiVersionOf(type)} ${type.kind} ${name}`;
}

function isSameKind(one: ResourceType, other: ResourceType): boolean {
  return one.group === other.group && one.kind === other.kind;
}
