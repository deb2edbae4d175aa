// SPDX-License-Identifier: Apache-2.0
/**
 * Cache is a local copy of the objects of one kind, which reconcilers read instead of asking the API server. ObjectStore
 * implements it, and watchObjects keeps one up to date.
 * Usage: `const node = nodes.get("worker-0"); const gpuNodes = nodes.byIndex("pool", "gpu")`.
 */
import type { ObjectName } from "../kube-object.ts";
import type { HasAge } from "./cache-age.ts";

/**
 * Objects of one kind, each reduced to its projection. Keys are names if the kind is cluster-scoped or the cache holds a
 * single namespace, otherwise "namespace/name".
 */
export interface Cache<T> extends Observations, HasAge {
  /** Whether the first list is complete. */
  readonly synced: boolean;
  /** False while the server does not serve the kind; then the cache is empty. Only with the option `optional`. */
  readonly served: boolean;
  /** Resolves when synced; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  readonly size: number;
  get(key: string): T | undefined;
  list(): readonly T[];
  keys(): Iterable<string>;
  /** Returns the objects with `value` in the index. Throws RangeError if the cache does not have the index. */
  byIndex(index: string, value: string): readonly T[];
  /**
   * Calls `listener` for each object that exists (`before` is undefined) and then for each change of a projection. Returns
   * a function that ends the subscription.
   */
  subscribe(listener: (change: CacheChange<T>) => void): () => void;
}

/** An object was added (no `before`), changed, or deleted (no `after`). */
export interface CacheChange<T> {
  readonly key: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

/** What a writer needs to know about objects beyond their projection. */
export interface Observations {
  observed(name: ObjectName): ObservedObject | undefined;
  /** The resourceVersion up to which the cache has all changes; undefined before the first list. */
  readonly position: string | undefined;
  /** Number of times that the versions of the server went back. What was remembered about versions before does not count. */
  readonly rewinds: number;
  /** To be called if an answer has an earlier version than the cache has for the object: all objects are listed again. */
  doubt(): void;
  /** Reports whether `owned` works for this manager. */
  tracks(manager: string): boolean;
}

export interface ObservedObject {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Returns the digest of the fields of the manager's last apply, with their current values (owned-fields.ts). */
  owned(manager: string, subresource: string): string | undefined;
  /** Reports whether the manager owns fields, other than metadata, that it wrote by update. */
  updatedBy(manager: string, subresource: string): boolean;
}

/**
 * isBehind compares resourceVersions. They are decimal numbers that grow with each write: guaranteed by Kubernetes since
 * 1.35, and a property of etcd before.
 * Reports whether `position` is before `version`. Returns false if one of them is not such a number.
 */
export function isBehind(position: string, version: string): boolean {
  if (!decimal.test(position) || !decimal.test(version)) return false;
  return position.length === version.length ? position < version : position.length < version.length;
}

const decimal = /^[1-9]\d*$/;
