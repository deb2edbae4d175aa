// SPDX-License-Identifier: Apache-2.0
/**
 * observe watches a cluster without faults and records its objects and the history of each object. Two runs that end in
 * the same state may differ on the way: a node that was drained twice looks like one that was drained once.
 */
import { annotations } from "@switchyard/api";
import { watchObjects, type CacheChange, type KubeObject, type ResourceType, type Transport } from "@switchyard/kube";
import { labelOf, clusterStateOf, type ClusterState } from "./cluster-state.ts";

/** The changes of each object in order, by "Kind namespace/name": "came", "cordoned: yes", "drain: Draining", … */
export type History = ReadonlyMap<string, readonly string[]>;

export interface Observer extends AsyncDisposable {
  objects(): readonly KubeObject[];
  clusterState(): ClusterState;
  /** Returns the changes since the last call. */
  takeHistory(): History;
  /** performance.now() of the last change. */
  readonly changedAtMs: number;
  /** The newest resourceVersion of all events; "" before the first one. */
  readonly newestVersion: string;
  /** Calls `listener` for each existing object and for each later change. */
  subscribe(listener: (change: CacheChange<KubeObject>) => void): () => void;
}

/** Resolves when all caches are synced. Objects for which `isLeftOut` returns true are ignored. */
export async function startObserver(
  transport: Transport,
  types: readonly ResourceType[],
  isLeftOut: (object: KubeObject) => boolean,
): Promise<Observer> {
  const ended = new AbortController();
  let history = new Map<string, string[]>();
  let changedAtMs = performance.now();
  let newest = 0n;
  const caches = types.map((type) =>
    watchObjects({ transport, type, report: () => undefined, project: (object: KubeObject) => object }),
  );
  const shown = (object: KubeObject | undefined) => (object === undefined || isLeftOut(object) ? undefined : object);

  for (const cache of caches) {
    cache.subscribe(({ before, after }) => {
      const [was, is] = [shown(before), shown(after)];
      const version = BigInt(after?.metadata.resourceVersion ?? "0");
      if (version > newest) newest = version;
      const object = is ?? was;
      if (object === undefined) return;
      changedAtMs = performance.now();
      const label = labelOf(object);
      for (const news of newsOf(was, is)) history.set(label, [...(history.get(label) ?? []), news]);
    });
  }
  await Promise.all(caches.map((cache) => cache.whenSynced(ended.signal)));

  const objects = () => caches.flatMap((cache) => cache.list()).filter((object) => !isLeftOut(object));
  return {
    objects,
    clusterState: () => clusterStateOf(objects()),
    takeHistory() {
      const taken = history;
      history = new Map();
      return taken;
    },
    get changedAtMs() {
      return changedAtMs;
    },
    get newestVersion() {
      return newest === 0n ? "" : `${newest}`;
    },
    subscribe(listener) {
      const ends = caches.map((cache) => cache.subscribe(listener));
      return () => {
        for (const end of ends) end();
      };
    },
    async [Symbol.asyncDispose]() {
      ended.abort();
      await Promise.all(caches.map((cache) => cache[Symbol.asyncDispose]()));
    },
  };
}

/** Returns the changes that users would notice. */
function newsOf(before: KubeObject | undefined, after: KubeObject | undefined): readonly string[] {
  if (before === undefined) return ["came"];
  if (after === undefined) return ["went"];
  if (before.metadata.uid !== after.metadata.uid) return ["went", "came"];
  const [was, is] = [factsOf(before), factsOf(after)];
  return Object.keys({ ...was, ...is })
    .filter((fact) => was[fact] !== is[fact])
    .map((fact) => `${fact}: ${is[fact] ?? "none"}`);
}

function factsOf(object: KubeObject): Readonly<Record<string, string | undefined>> {
  const { annotations: notes = {}, deletionTimestamp } = object.metadata;
  const spec = "spec" in object ? object.spec : undefined;
  const isCordoned =
    typeof spec === "object" && spec !== null && "unschedulable" in spec && spec.unschedulable === true;
  return {
    ending: deletionTimestamp === undefined ? undefined : "yes",
    cordoned: isCordoned ? "yes" : undefined,
    drain: notes[annotations.currentState],
    request: notes[annotations.desiredState],
  };
}
