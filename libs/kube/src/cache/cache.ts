// SPDX-License-Identifier: Apache-2.0
/**
 * What the API server has, as far as it was heard: what reconcilers read instead of asking. ObjectStore is one;
 * watchObjects() keeps one up to date.
 * Usage: `const node = nodes.get("worker-0"); const mine = states.byIndex("pool", "gpu")`.
 */

import type { Ageing } from "./cache-age.ts";
import type { ObjectName } from "../kube-object.ts";

/**
 * Objects of one kind, each reduced to what is used of it. Keys are names where the kind has no namespaces or the cache
 * holds a single one, "namespace/name" otherwise.
 */
export interface Cache<T> extends Observations, Ageing {
  /** Whether all objects that there were at the start are in. */
  readonly synced: boolean;
  /** False while the server does not know the kind: then nothing is here. Only of a cache that takes it (`optional`). */
  readonly served: boolean;
  /** Resolves when synced; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  readonly size: number;
  get(key: string): T | undefined;
  list(): readonly T[];
  keys(): Iterable<string>;
  /** The objects that the index files under `value`. Throws RangeError if the cache has no such index. */
  byIndex(index: string, value: string): readonly T[];
  /**
   * Tells of each change from now on, beginning with all that is here already (`before` undefined). Changes that do not
   * show in the projection are not told. The answer ends it.
   */
  subscribe(listener: (change: Change<T>) => void): () => void;
}

/** An object came (no `before`), changed, or went (no `after`). */
export interface Change<T> {
  readonly key: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

/** What a writer must know of objects beyond their projection. */
export interface Observations {
  observed(name: ObjectName): Observed | undefined;
  /** The resourceVersion up to which all changes are in; undefined before the first list. */
  readonly position: string | undefined;
  /** Whether `owned` of the objects here knows this manager. */
  tracks(manager: string): boolean;
}

export interface Observed {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Digest of the fields that the manager's last apply set, with their values of now (owned-fields.ts). */
  owned(manager: string, subresource: string): string | undefined;
  /** Whether this manager owns fields that it wrote by update, other than metadata. */
  updatedBy(manager: string, subresource: string): boolean;
}
