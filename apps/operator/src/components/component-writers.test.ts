// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { upstreamManager } from "@switchyard/api";
import { isRecord, KubeError, ObjectStore, type KubeObject, type Transport } from "@switchyard/kube";
import { componentKinds, type InventoryItem, type Manifest } from "@switchyard/render";
import { fieldManagers } from "../field-managers.ts";
import { createComponentObjects, toSeenObject, type SeenObject } from "./component-objects.ts";
import { createComponentWriters } from "./component-writers.ts";

const namespace = "sriov-network-operator";
const item: InventoryItem = {
  ...{ component: "device-plugin", name: "sriov-device-plugin", namespace },
  type: componentKinds.DaemonSet,
};
const { signal } = new AbortController();

function manifestWith(app: string): Manifest {
  const spec = { selector: { matchLabels: { app } } };
  return {
    ...{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: item.name, namespace } },
    ...{ spec },
  };
}

/** An API server with one DaemonSet that has immutable fields. The cache shows changes only on request. */
function setUp({ immutable = "spec.selector", reason = "FieldValueInvalid" } = {}) {
  let version = 1;
  let live: (KubeObject & { readonly spec?: unknown }) | undefined;
  const cache = new ObjectStore<KubeObject, SeenObject | undefined>({
    ...{ type: item.type, namespace, managers: [fieldManagers.components], project: toSeenObject },
  });
  cache.beginList();
  cache.endList("1");
  const objects = createComponentObjects([item], [{ type: item.type, cache, names: new Set([item.name]) }]);

  function store(manager: string, spec: unknown, uid = `uid-${version}`): KubeObject {
    const operation = manager === upstreamManager ? "Update" : "Apply";
    const managedFields = [{ manager, operation, fieldsV1: operation === "Update" ? { "f:spec": {} } : {} }];
    const metadata = { name: item.name, namespace, uid, resourceVersion: `${++version}`, managedFields };
    live = { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec };
    return live;
  }

  const transport: Transport = {
    namespace,
    request({ method, body, contentType }) {
      if (method === "GET") return Promise.resolve(live);
      if (contentType === "application/json-patch+json") {
        // The writer takes over upstream's fields. The cache shows this before the write that follows.
        const answer = Promise.resolve(store(fieldManagers.components, live?.spec, live?.metadata.uid));
        hear();
        return answer;
      }
      const spec = isRecord(body) ? body["spec"] : undefined;
      if (method === "DELETE") {
        const wanted = isRecord(body) && isRecord(body["preconditions"]) ? body["preconditions"] : {};
        if (wanted["uid"] !== live?.metadata.uid || wanted["resourceVersion"] !== live?.metadata.resourceVersion) {
          return Promise.reject(new KubeError("DELETE", "Conflict", { status: 409 }));
        }
        live = undefined;
        return Promise.resolve({});
      }
      if (live !== undefined && JSON.stringify(live.spec) !== JSON.stringify(spec)) {
        const details = { causes: [{ reason, field: immutable }] };
        return Promise.reject(new KubeError("PATCH", "Invalid", { status: 422, details }));
      }
      return Promise.resolve(store(fieldManagers.components, spec, live?.metadata.uid));
    },
    watch: () => {
      throw new Error("nobody watches");
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const hear = () => {
    if (live === undefined) cache.remove({ name: item.name, namespace });
    else {
      cache.upsert(live);
      cache.advance(live.metadata.resourceVersion ?? "");
    }
  };
  return {
    write: createComponentWriters({ transport, objects }),
    hear,
    uid: () => live?.metadata.uid,
    put(manager: string, app: string, heard: "heard" | "unheard" = "heard"): void {
      store(manager, { selector: { matchLabels: { app } } });
      if (heard === "heard") hear();
    },
  };
}

describe("an object with fields that an apply cannot change", () => {
  it("is replaced if an operator created it", async () => {
    const { write, put, uid } = setUp();
    put(fieldManagers.components, "former");
    const before = uid();
    expect(await write.apply(manifestWith("now"), signal)).toBe("written");
    expect([uid() === undefined, uid() === before]).toEqual([false, false]);
  });

  it("is replaced if somebody has made its data immutable, and kept if its data are wrong", async () => {
    for (const [reason, isReplaced] of [
      ["FieldValueForbidden", true],
      ["FieldValueInvalid", false],
    ] as const) {
      const { write, put, uid } = setUp({ immutable: "data", reason });
      put(fieldManagers.components, "former");
      const before = uid();
      await write.apply(manifestWith("now"), signal).catch(() => undefined);
      expect([reason, uid() !== before]).toEqual([reason, isReplaced]);
    }
  });

  it("is kept if another client created it, and the API server's error is passed on", async () => {
    const { write, put, uid } = setUp();
    put("kubectl", "theirs");
    const before = uid();
    await expect(write.apply(manifestWith("ours"), signal)).rejects.toMatchObject({ code: "Invalid" });
    expect(uid()).toBe(before);
  });

  it("is kept if the API server refuses other fields, which a new object would not correct", async () => {
    const { write, put, uid } = setUp({ immutable: "spec.template.spec.containers[0].image" });
    put(fieldManagers.components, "former");
    const before = uid();
    await expect(write.apply(manifestWith("now"), signal)).rejects.toMatchObject({ code: "Invalid" });
    expect(uid()).toBe(before);
  });

  it("is kept if it has changed since it was seen", async () => {
    const { write, put, uid } = setUp();
    put(fieldManagers.components, "former");
    put("kubectl", "theirs", "unheard");
    const before = uid();
    await expect(write.apply(manifestWith("ours"), signal)).rejects.toMatchObject({ code: "Conflict" });
    expect(uid()).toBe(before);
  });
});

describe("the cached object", () => {
  it("is outdated from a write until the cache shows it", async () => {
    const { write, hear } = setUp();
    expect(write.isObserved(item)).toBe(true);
    await write.apply(manifestWith("now"), signal);
    expect([write.isObserved(item), write.isObserved(item)]).toEqual([false, false]);
    hear();
    expect([write.isObserved(item), write.isObserved(item)]).toEqual([true, true]);
  });

  it("is outdated until it shows the write, also after the fields of upstream's operator were taken over", async () => {
    const { write, put, hear } = setUp();
    put(upstreamManager, "now");
    expect(await write.apply(manifestWith("now"), signal)).toBe("written");
    expect(write.isObserved(item)).toBe(false);
    hear();
    expect(write.isObserved(item)).toBe(true);
  });

  it("is deleted only if it is unchanged", async () => {
    const { write, put, uid } = setUp();
    put(fieldManagers.components, "former");
    const stale = { ...emptySeen, uid: uid() ?? "", resourceVersion: "0" };
    await expect(write.delete(item, stale, signal)).rejects.toMatchObject({ code: "Conflict" });
    expect(uid()).toBeDefined();
  });
});

const emptySeen: SeenObject = toSeenObject({ apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: item.name } });
