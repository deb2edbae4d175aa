// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { CacheChange } from "./cache.ts";
import type { KubeObject } from "../kube-object.ts";
import { ObjectStore, type StoreOptions } from "./object-store.ts";
import { configMaps, type ConfigMap } from "../testing/fake-api-server.ts";

interface Kept {
  readonly metadata: { readonly name: string; readonly resourceVersion?: string | undefined };
  readonly color: string | undefined;
}

function project({ metadata: { name, resourceVersion }, data }: ConfigMap): Kept {
  return { metadata: { name, resourceVersion }, color: data?.["color"] };
}

function createStore(options: Partial<StoreOptions<ConfigMap, Kept>> = {}) {
  const store = new ObjectStore<ConfigMap, Kept>({
    type: configMaps,
    namespace: "ns",
    project,
    indexes: { color: ({ color }) => (color === undefined ? [] : [color]) },
    ...options,
  });
  const changes: string[] = [];
  store.subscribe(({ key, before, after }: CacheChange<Kept>) => {
    changes.push(`${key}: ${before?.color ?? "none"} -> ${after?.color ?? "none"}`);
  });
  return { store, changes };
}

let version = 0;
function some(name: string, color: string, namespace = "ns"): KubeObject {
  version++;
  const metadata = { name, namespace, uid: `uid of ${name}`, resourceVersion: `${version}` };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, ...{ data: { color, size: `${version}` } } };
}

const names = (found: readonly Kept[]) => found.map(({ metadata }) => metadata.name);

describe("ObjectStore", () => {
  it("keeps projections by name, or by namespace and name for all namespaces", () => {
    const { store } = createStore();
    store.upsert(some("a", "red"));
    expect(store.get("a")?.color).toBe("red");

    const all = createStore({ namespace: undefined }).store;
    all.upsert(some("a", "red", "x"));
    all.upsert(some("a", "blue", "y"));
    expect([...all.keys()]).toEqual(["x/a", "y/a"]);
    expect(all.get("y/a")?.color).toBe("blue");
  });

  it("finds objects by the current values of an index", () => {
    const { store } = createStore();
    store.upsert(some("a", "red"));
    store.upsert(some("b", "red"));
    store.upsert(some("a", "blue"));
    expect([names(store.byIndex("color", "red")), names(store.byIndex("color", "blue"))]).toEqual([["b"], ["a"]]);
    store.remove({ name: "b", namespace: "ns" });
    expect(store.byIndex("color", "red")).toEqual([]);
    expect(() => store.byIndex("size", "1")).toThrow(RangeError);
  });

  it("calls listeners only for changes of the projection", () => {
    const { store, changes } = createStore();
    store.upsert(some("a", "red"));
    const last = some("a", "red");
    store.upsert(last);
    expect(changes).toEqual(["a: none -> red"]);
    expect(store.get("a")?.metadata.resourceVersion).toBe(last.metadata.resourceVersion);
    expect(store.observed({ name: "a", namespace: "ns" })?.resourceVersion).toBe(last.metadata.resourceVersion);
    store.upsert(some("a", "blue"));
    store.remove({ name: "a", namespace: "ns" });
    expect(changes.slice(1)).toEqual(["a: red -> blue", "a: blue -> none"]);
  });

  it("keeps the value of the projection, which objects can share", () => {
    const colors = new Map<string, Kept>();
    const { store } = createStore({
      project(object) {
        const color = object.data?.["color"] ?? "";
        const kept = colors.get(color) ?? { metadata: { name: "any" }, color };
        colors.set(color, kept);
        return kept;
      },
    });
    for (const color of ["red", "blue"]) for (const name of ["a", "b"]) store.upsert(some(name, color));
    expect(store.get("a")).toBe(store.get("b"));
  });

  it("passes the last projection of the object to the projection", () => {
    const { store } = createStore({
      project: (object, before) => ({
        ...project(object),
        color: `${before?.color ?? "none"}, ${object.data?.["color"]}`,
      }),
    });
    store.upsert(some("a", "red"));
    store.upsert(some("a", "blue"));
    store.upsert(some("b", "green"));
    expect(store.list().map(({ color }) => color)).toEqual(["none, red, blue", "none, green"]);
  });

  it("calls a new listener for all existing objects", () => {
    const { store } = createStore();
    store.upsert(some("a", "red"));
    const seen: CacheChange<Kept>[] = [];
    store.subscribe((change) => seen.push(change))();
    store.upsert(some("b", "red"));
    expect(seen.map(({ key, before }) => [key, before])).toEqual([["a", undefined]]);
  });

  it("drops objects that a list lacks when the list ends", () => {
    const { store, changes } = createStore();
    store.upsert(some("a", "red"));
    store.upsert(some("b", "red"));
    store.beginList();
    store.upsert(some("b", "blue"));
    store.beginList(); // the first list expired before its last page
    store.upsert(some("b", "blue"));
    expect(store.size).toBe(2);
    store.endList("9");
    expect([...store.keys()]).toEqual(["b"]);
    expect(changes.slice(2)).toEqual(["b: red -> blue", "a: red -> none"]);
  });

  it("is synced after the first list", async () => {
    const { store } = createStore();
    const waiting = store.whenSynced(new AbortController().signal);
    expect([store.synced, store.position]).toEqual([false, undefined]);
    await expect(store.whenSynced(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
    store.beginList();
    store.endList("7");
    await waiting;
    store.advance("8");
    expect([store.synced, store.position]).toEqual([true, "8"]);
  });

  it("keeps the last state of an object whose projection throws, and updates all others", () => {
    const reported: unknown[] = [];
    const { store } = createStore({
      report: (error) => reported.push(error),
      project(object) {
        if (object.data?.["color"] === "bad") throw new Error("bad color");
        return project(object);
      },
    });
    store.upsert(some("a", "red"));
    store.beginList();
    store.upsert(some("a", "bad"));
    store.upsert(some("b", "red"));
    store.endList("9");
    expect([...store.keys()]).toEqual(["a", "b"]);
    expect(store.get("a")?.color).toBe("red");
    expect(reported).toMatchObject([{ message: "bad color" }]);
  });

  it("calls all other listeners when one throws", () => {
    const reported: unknown[] = [];
    const { store, changes } = createStore({ report: (error) => reported.push(error) });
    store.subscribe(() => {
      throw new Error("bad listener");
    });
    store.subscribe(({ key }) => changes.push(`and ${key}`));
    store.upsert(some("a", "red"));
    expect([changes, reported.length]).toEqual([["a: none -> red", "and a"], 1]);
  });

  it("throws for objects of another kind and of another namespace", () => {
    const { store } = createStore();
    const node = { ...some("a", "red"), kind: "Node" };
    expect(() => {
      store.upsert(node);
    }).toThrow("UnexpectedResponse");
    expect(() => store.observed({ name: "a", namespace: "other" })).toThrow(RangeError);
  });
});
