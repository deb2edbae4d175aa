// SPDX-License-Identifier: Apache-2.0
/**
 * ObjectStore holds the objects of a Cache. The reflector fills it in a service, and a test fills it by hand.
 * Usage: `const nodes = new ObjectStore({ type: nodeType, project: ({ metadata }: Node) => ({ metadata }) })`.
 */
import { FreshnessClock, type CacheAge, type FailedWatch } from "./cache-age.ts";
import { isBehind, type Cache, type CacheChange, type ObservedObject } from "./cache.ts";
import type { Clock } from "../clock.ts";
import { equalJson } from "../json/equal-json.ts";
import { KubeError } from "../http/kube-error.ts";
import { apiVersionOf, isRecord, keyOf, type KubeObject, type ObjectName, type ResourceType } from "../kube-object.ts";
import { ObjectIndex, type Indexers } from "./object-index.ts";
import { observeObject } from "./owned-fields.ts";

export interface StoreOptions<Wire extends KubeObject, T> {
  readonly type: ResourceType;
  /** The only namespace in this store. Keys are then names without namespace. */
  readonly namespace?: string | undefined;
  /**
   * Returns the part of an object that the cache keeps, as JSON. Keep only the fields in use, to save memory. `before` is
   * the last result for the object, so that a projection can share unchanged parts (sharingEqual).
   */
  readonly project: (object: Wire, before: T | undefined) => T;
  readonly indexes?: Indexers<T>;
  /** Field managers of the writers that use this cache. */
  readonly managers?: readonly string[];
  /**
   * Called with errors of projections, indexes and listeners. The store then keeps the last state of the object, or one
   * listener misses a change; everything else continues. Without it, the method that adds the object throws the error.
   */
  readonly report?: (error: unknown, at: FailedWatch) => void;
  /** Clock for the age. The default continues while the machine is suspended. */
  readonly clock?: Clock | undefined;
}

/** Receives the objects of a kind from a reflector. */
export interface ObjectSink extends Pick<CacheAge, "ageMs"> {
  /** Starts a list. Objects that are not added until endList() are deleted then. */
  beginList(): void;
  upsert(object: KubeObject): void;
  remove(object: ObjectName): void;
  endList(resourceVersion: string): void;
  /** All changes up to this version have been passed. */
  advance(resourceVersion: string): void;
  /**
   * The versions of the server went back, as after the restore of a backup of etcd. Called within a list, before its first
   * object. What was known about the objects and the writes before does not count any more.
   */
  rewind(): void;
  /** Sets what is called if a writer has received an earlier version than the cache has. Returns a function that ends this. */
  onDoubt(listener: () => void): () => void;
  /** The server does not serve the kind, so there are no objects. */
  notServed(): void;
  /** The server has just confirmed that all changes have been passed. */
  confirmed(): void;
  /** The server has refused a request, such as "Forbidden (list nodes)". Optional, for sinks whose state nobody asks for. */
  refused?(refusal: string): void;
}

/** A Cache and the sink that fills it. */
export class ObjectStore<Wire extends KubeObject, T> implements Cache<T>, CacheAge, ObjectSink {
  readonly #options: StoreOptions<Wire, T>;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #index: ObjectIndex<T>;
  readonly #listeners = new Set<(change: CacheChange<T>) => void>();
  readonly #firstList = Promise.withResolvers<undefined>();
  /** Keys of the current list. */
  #listed: Set<string> | undefined;
  #position: string | undefined;
  #served = true;
  #rewinds = 0;
  /** Whether the current list is the first one after a rewind. */
  #isRewound = false;
  #onDoubt: (() => void) | undefined;
  #refusal: string | undefined;
  readonly #lastConfirmed: FreshnessClock;

  constructor(options: StoreOptions<Wire, T>) {
    this.#options = options;
    this.#lastConfirmed = new FreshnessClock(options.clock);
    this.#index = new ObjectIndex(options.indexes ?? {});
  }

  get size(): number {
    return this.#entries.size;
  }

  get synced(): boolean {
    return this.#position !== undefined || !this.#served;
  }

  get served(): boolean {
    return this.#served;
  }

  get position(): string | undefined {
    return this.#position;
  }

  get rewinds(): number {
    return this.#rewinds;
  }

  get resource(): string {
    return this.#options.type.plural;
  }

  get ageMs(): number {
    return this.#lastConfirmed.ageMs;
  }

  get refusal(): string | undefined {
    return this.#refusal;
  }

  get ages(): readonly CacheAge[] {
    return [this];
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const stop = () => {
      aborted.reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      await Promise.race([this.#firstList.promise, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }

  list(): readonly T[] {
    return Array.from(this.#entries.values(), ({ value }) => value);
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  byIndex(index: string, value: string): readonly T[] {
    return Array.from(this.#index.keys(index, value)).flatMap((key) => this.#entries.get(key)?.value ?? []);
  }

  subscribe(listener: (change: CacheChange<T>) => void): () => void {
    this.#listeners.add(listener);
    for (const [key, { value }] of this.#entries) listener({ key, before: undefined, after: value });
    return () => {
      this.#listeners.delete(listener);
    };
  }

  observed(name: ObjectName): ObservedObject | undefined {
    return this.#entries.get(this.#keyOf(name))?.observed;
  }

  tracks(manager: string): boolean {
    return this.#options.managers?.includes(manager) ?? false;
  }

  beginList(): void {
    this.#listed = new Set();
  }

  upsert(object: KubeObject): void {
    const key = this.#keyOf(object.metadata);
    this.#listed?.add(key);
    const before = this.#entries.get(key);
    const { uid, resourceVersion } = object.metadata;
    if (before !== undefined && before.observed.uid === uid && resourceVersion !== undefined) {
      // The list can have a later version than the one before although versions went back meanwhile. Its objects show it.
      const isBack = this.#listed !== undefined && isBehind(resourceVersion, before.observed.resourceVersion);
      if (isBack && !this.#isRewound) this.rewind();
      // After a rewind, another write can have got the same version.
      if (before.observed.resourceVersion === resourceVersion && !this.#isRewound) return;
    }
    this.#guard(() => {
      const value = this.#project(object, before?.value);
      const observed = observeObject(object, this.#options.managers ?? []);
      this.#index.update(key, before?.value, value);
      this.#entries.set(key, { value, observed });
      if (before && equalButVersion(before.value, value)) return;
      this.#notify({ key, before: before?.value, after: value });
    });
  }

  remove(object: ObjectName): void {
    this.#drop(this.#keyOf(object));
  }

  endList(resourceVersion: string): void {
    const gone = [...this.#entries.keys()].filter((key) => this.#listed?.has(key) === false);
    this.#listed = undefined;
    this.#isRewound = false;
    this.#position = resourceVersion;
    this.#served = true;
    this.#firstList.resolve(undefined);
    for (const key of gone) this.#drop(key);
  }

  advance(resourceVersion: string): void {
    this.#position = resourceVersion;
  }

  rewind(): void {
    this.#rewinds++;
    this.#isRewound = true;
  }

  doubt(): void {
    this.#onDoubt?.();
  }

  onDoubt(listener: () => void): () => void {
    this.#onDoubt = listener;
    return () => {
      this.#onDoubt = undefined;
    };
  }

  notServed(): void {
    this.#listed = undefined;
    this.#position = undefined;
    this.#served = false;
    this.#firstList.resolve(undefined);
    for (const key of [...this.#entries.keys()]) this.#drop(key);
  }

  refused(refusal: string): void {
    this.#refusal = refusal;
  }

  confirmed(): void {
    this.#refusal = undefined;
    this.#lastConfirmed.confirmed();
  }

  #drop(key: string): void {
    const before = this.#entries.get(key);
    if (before === undefined) return;
    this.#entries.delete(key);
    this.#guard(() => {
      this.#index.update(key, before.value, undefined);
    });
    this.#notify({ key, before: before.value, after: undefined });
  }

  #project(object: KubeObject, before: T | undefined): T {
    const { type, project } = this.#options;
    // The API server has validated the object against the schema of its kind, so it has the type of this kind.
    const isWire = (some: KubeObject): some is Wire => {
      return some.apiVersion === apiVersionOf(type) && some.kind === type.kind;
    };
    if (isWire(object)) return project(object, before);
    throw new KubeError(`read a ${type.kind}`, "UnexpectedResponse", {
      words: `got ${object.apiVersion} ${object.kind}`,
    });
  }

  #notify(change: CacheChange<T>): void {
    for (const listener of [...this.#listeners]) {
      this.#guard(() => {
        listener(change);
      });
    }
  }

  #guard(run: () => void): void {
    const { report } = this.#options;
    if (report === undefined) {
      run();
      return;
    }
    try {
      run();
    } catch (error) {
      report(error, this);
    }
  }

  #keyOf({ name, namespace }: ObjectName): string {
    const only = this.#options.namespace;
    if (only === undefined) return keyOf({ name, namespace });
    if (namespace === only) return name;
    throw new RangeError(
      `the cache of ${this.#options.type.kind} holds only namespace "${only}", not ${keyOf({ name, namespace })}`,
    );
  }
}

interface Entry<T> {
  readonly value: T;
  readonly observed: ObservedObject;
}

// Each write changes the resourceVersion and managedFields. Listeners are called only when other fields differ.
function equalButVersion(before: unknown, after: unknown): boolean {
  return equalJson(withoutVersion(before), withoutVersion(after));
}

function withoutVersion(value: unknown): unknown {
  if (!isRecord(value) || !isRecord(value["metadata"])) return value;
  return { ...value, metadata: { ...value["metadata"], resourceVersion: undefined, managedFields: undefined } };
}
