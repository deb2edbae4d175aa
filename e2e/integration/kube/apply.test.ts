// SPDX-License-Identifier: Apache-2.0
/**
 * The writer of libs/kube on a real API server: what server-side apply does, and, from the audit log, how few writes
 * it takes.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import {
  connect,
  createWriter,
  objectPath,
  patchMetadata,
  watchObjects,
  type Cache,
  type Intent,
  type KubeObject,
  type ResourceType,
  type Transport,
  type Writer,
} from "@switchyard/kube";
import { eventually, isWrite, startControlPlane, type ControlPlane } from "@switchyard/testing";

interface Thing extends KubeObject {
  readonly spec?: {
    readonly color?: string;
    readonly size?: number;
    readonly options?: Readonly<Record<string, string>>;
    /** An atomic list: one manager owns all of it. */
    readonly words?: readonly string[];
    /** A list with keys: each entry has its own managers. */
    readonly ports?: readonly { readonly name: string; readonly speed?: number; readonly protocol?: string }[];
    readonly limit?: number | string;
  };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly object[] };
}

const things = { group: "test.switchyard.io", version: "v1", kind: "Thing", plural: "things", namespaced: true };
const daemonSets = { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true };
const manager = "test-writer";
const userAgent = "writer-under-test";
const namespace = "default";
const coldStartMs = 10 * 60_000;
const testMs = 2 * 60_000;

describe("a writer", () => {
  let cluster: ControlPlane;
  let transport: Transport;
  /** The transport of another client. */
  let other: Transport;
  let cache: Cache<Thing> & AsyncDisposable;
  let writer: Writer<Thing>;
  let name: string;
  let tests = 0;

  beforeAll(async () => {
    cluster = await startControlPlane({ auditLog: true });
    await cluster.applyCrds([crd]);
    transport = await connect({ kubeconfig: cluster.kubeconfig, userAgent });
    other = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "other" });
  }, coldStartMs);

  afterAll(async () => {
    await transport[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    tests++;
    name = `thing-${tests}`;
    await start();
  });

  afterEach(async () => {
    await cache[Symbol.asyncDispose]();
  });

  /** Creates a cache and a writer, as a process does when it starts. */
  async function start(): Promise<void> {
    ({ cache, writer } = createCachedWriter<Thing>(things));
    await cache.whenSynced(AbortSignal.timeout(30_000));
  }

  async function restart(): Promise<void> {
    await cache[Symbol.asyncDispose]();
    await start();
  }

  function createCachedWriter<T extends KubeObject>(type: ResourceType) {
    const cache = watchObjects({
      transport,
      type,
      namespace,
      // The writer needs no other fields; it does not need managedFields.
      project: ({ apiVersion, kind, metadata: { name, uid, resourceVersion, labels } }: T) =>
        ({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, labels } }) as KubeObject as T,
      managers: [manager],
      report: (error) => {
        throw error;
      },
    });
    return { cache, writer: createWriter<T>({ transport, type, manager, namespace, cache }) };
  }

  const read = (type: ResourceType = things) =>
    other.request({ method: "GET", path: objectPath(type, { name, namespace }) });

  async function patchByOther(patch: object, subresource?: string): Promise<void> {
    const path = objectPath(things, { name, namespace }, subresource);
    await other.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body: patch });
    await untilHeard();
  }

  /** Waits until the cache has the stored version of the object. */
  async function untilHeard(type: ResourceType = things, heard: Cache<KubeObject> = cache): Promise<void> {
    const version = versionOf(await read(type));
    await eventually(
      "the cache has the stored version",
      () => heard.observed({ name, namespace })?.resourceVersion === version,
    );
  }

  async function apply(spec: Thing["spec"], metadata: Partial<Intent<Thing>["metadata"]> = {}): Promise<string> {
    const result = await writer.apply({ metadata: { name, ...metadata }, ...(spec && { spec }) });
    await untilHeard();
    return result;
  }

  /** How many writes of the current object the API server got from the writer. */
  async function writes(): Promise<number> {
    const mark = `mark-${tests}-${Math.random().toString(36).slice(2)}`;
    await other.request({ method: "GET", path: `/api/v1/namespaces/${mark}` }).catch(() => undefined);
    const events = await eventually("the mark in the audit log", async () => {
      const seen = await cluster.auditEvents();
      return seen.some(({ objectRef }) => objectRef?.name === mark) ? seen : undefined;
    });
    return events.filter((event) => isWrite(event) && event.userAgent === userAgent && event.objectRef?.name === name)
      .length;
  }

  it(
    "writes once, and not again after changes of others or a restart while its fields are unchanged",
    async () => {
      const spec = {
        color: "red",
        size: 3,
        options: { a: "1", b: "" },
        words: ["x", "y"],
        ports: [{ name: "p1", speed: 10 }, { name: "p0" }],
      };
      const labels = { app: "thing" };
      expect(await apply(spec, { labels })).toBe("written");
      expect(await apply(spec, { labels })).toBe("unchanged");
      await patchByOther({ metadata: { labels: { team: "net" } }, spec: { limit: 7, options: { c: "3" } } });
      await patchByOther({ status: { phase: "Busy" } }, "status");
      expect(await apply(spec, { labels })).toBe("unchanged");
      await restart();
      expect(await apply(spec, { labels })).toBe("unchanged");
      expect(await writes()).toBe(1);
      expect(await read()).toMatchObject({
        metadata: { labels: { app: "thing", team: "net" } },
        spec: { ...spec, limit: 7, options: { a: "1", b: "", c: "3" } },
        status: { phase: "Busy" },
      });
    },
    testMs,
  );

  it(
    "removes fields that the intent no longer has, also after a restart",
    async () => {
      await apply({ color: "red", size: 3, options: { a: "1", b: "2" }, ports: [{ name: "p0" }, { name: "p1" }] });
      await restart();
      expect(await apply({ color: "red", options: { a: "1" }, ports: [{ name: "p1" }] })).toBe("written");
      expect(await read()).toMatchObject({ spec: { color: "red", options: { a: "1" }, ports: [{ name: "p1" }] } });
      expect(specOf(await read())).not.toHaveProperty("size");
      expect(await apply({ color: "red", options: { a: "1" }, ports: [{ name: "p1" }] })).toBe("unchanged");
      expect(await writes()).toBe(2);
    },
    testMs,
  );

  it.each<{ edit: string; patch: object }>([
    { edit: "a value", patch: { spec: { color: "blue" } } },
    { edit: "a value that is removed", patch: { spec: { color: null } } },
    { edit: "a label", patch: { metadata: { labels: { app: "other" } } } },
    { edit: "an entry of a map", patch: { spec: { options: { a: "2" } } } },
    { edit: "an atomic list", patch: { spec: { words: ["x", "y", "z"] } } },
    { edit: "an entry of a list with keys", patch: { spec: { ports: [{ name: "p0", speed: 1 }] } } },
    { edit: "a list with keys that is emptied", patch: { spec: { ports: [] } } },
  ])(
    "reverts a change of others to $edit",
    async ({ patch }) => {
      const spec = { color: "red", options: { a: "1" }, words: ["x"], ports: [{ name: "p0", speed: 10 }] };
      const labels = { app: "thing" };
      await apply(spec, { labels });
      await patchByOther(patch);
      expect(await apply(spec, { labels })).toBe("written");
      expect(await read()).toMatchObject({ metadata: { labels }, spec });
      expect(await apply(spec, { labels })).toBe("unchanged");
    },
    testMs,
  );

  it(
    "keeps list entries of others between its own",
    async () => {
      const ports = [{ name: "p0", speed: 10 }, { name: "p1" }];
      await apply({ ports });
      await patchByOther({ spec: { ports: [{ name: "theirs" }, ...ports] } });
      expect(await apply({ ports })).toBe("unchanged");
      expect(await apply({ ports: [{ name: "p1" }] })).toBe("written");
      expect(await read()).toMatchObject({ spec: { ports: [{ name: "theirs" }, { name: "p1" }] } });
      expect(await apply({ ports: [{ name: "p1" }] })).toBe("unchanged");
    },
    testMs,
  );

  it(
    "recognizes an entry whose key has a default",
    async () => {
      expect(await apply({ ports: [{ name: "p0", protocol: "UDP" }, { name: "p0" }] })).toBe("written");
      expect(await read()).toMatchObject({ spec: { ports: [{ protocol: "UDP" }, { protocol: "TCP" }] } });
      await restart();
      expect(await apply({ ports: [{ name: "p0", protocol: "UDP" }, { name: "p0" }] })).toBe("unchanged");
    },
    testMs,
  );

  it(
    "writes a changed order of entries, and empty values",
    async () => {
      const ports = [{ name: "a" }, { name: "b" }, { name: "c" }];
      await apply({ ports, words: ["x"], options: { a: "1" } });
      expect(await apply({ ports: ports.toReversed(), words: [], options: {} })).toBe("written");
      expect(await read()).toMatchObject({ spec: { ports: ports.toReversed(), words: [] } });
      expect(await apply({ ports: ports.toReversed(), words: [], options: {} })).toBe("unchanged");
      await patchByOther({ spec: { options: { theirs: "1" } } });
      expect(await apply({ ports: ports.toReversed(), words: [], options: {} })).toBe("unchanged");
      await restart();
      expect(await apply({ ports: ports.toReversed(), words: [], options: {} })).toBe("unchanged");
      expect(await read()).toMatchObject({ spec: { options: { theirs: "1" } } });
    },
    testMs,
  );

  it(
    "empties a map and the whole spec",
    async () => {
      await apply({ color: "red", options: { a: "1" } });
      expect(await apply({ color: "red", options: {} })).toBe("written");
      expect(specOf(await read())).toEqual({ color: "red", options: {} });
      expect(await apply({})).toBe("written");
      expect(specOf(await read())).toEqual({});
      await restart();
      expect(await apply({})).toBe("unchanged");
    },
    testMs,
  );

  it(
    "creates a deleted object again",
    async () => {
      await apply({ color: "red" });
      await other.request({ method: "DELETE", path: objectPath(things, { name, namespace }) });
      await eventually("the cache has no such object", () => cache.get(name) === undefined);
      expect(await apply({ color: "red" })).toBe("written");
    },
    testMs,
  );

  it(
    "writes status and spec separately, without changing the other",
    async () => {
      const status = {
        phase: "Ready",
        conditions: [
          { type: "Ready", status: "True" },
          { type: "Degraded", status: "False" },
        ],
      };
      await expect(writer.applyStatus({ metadata: { name }, status })).rejects.toMatchObject({ code: "NotFound" });
      await apply({ color: "red" });
      expect(await writer.applyStatus({ metadata: { name }, status })).toBe("written");
      await untilHeard();
      expect(await writer.applyStatus({ metadata: { name }, status })).toBe("unchanged");
      await patchByOther(
        { status: { conditions: [...status.conditions, { type: "Theirs", status: "True" }] } },
        "status",
      );
      await restart();
      expect(await apply({ color: "red" })).toBe("unchanged");
      expect(await writer.applyStatus({ metadata: { name }, status })).toBe("unchanged");
      const ready = { phase: "Ready", conditions: [{ type: "Ready", status: "True" }] };
      expect(await writer.applyStatus({ metadata: { name }, status: ready })).toBe("written");
      const conditions = [{ type: "Ready" }, { type: "Theirs" }];
      expect(await read()).toMatchObject({ spec: { color: "red" }, status: { phase: "Ready", conditions } });
    },
    testMs,
  );

  it(
    "sends one request after each restart for a value that the server stores in another form",
    async () => {
      const { cache: sets, writer: setWriter } = createCachedWriter<KubeObject>(daemonSets);
      await sets.whenSynced(AbortSignal.timeout(30_000));
      const intent = { metadata: { name }, spec: daemonSetSpec("0.1") };
      expect(await setWriter.apply(intent)).toBe("written");
      await untilHeard(daemonSets, sets);
      expect(await setWriter.apply(intent)).toBe("unchanged");
      await sets[Symbol.asyncDispose]();

      await using later = createCachedWriter<KubeObject>(daemonSets).cache;
      await later.whenSynced(AbortSignal.timeout(30_000));
      const laterWriter = createWriter({ transport, type: daemonSets, manager, namespace, cache: later });
      const canonical = { metadata: { name }, spec: daemonSetSpec("100m") };
      expect([await laterWriter.apply(intent), await laterWriter.apply(intent)]).toEqual(["unchanged", "unchanged"]);
      expect([await laterWriter.apply(canonical), await writes()]).toEqual(["unchanged", 2]);
    },
    testMs,
  );

  it(
    "adopts an object of another operator that wrote by update, and removes that operator's other fields once",
    async () => {
      const path = `/apis/test.switchyard.io/v1/namespaces/${namespace}/things`;
      const spec = {
        color: "blue",
        size: 3,
        options: { old: "1" },
        ports: [{ name: "old", speed: 1 }, { name: "p0" }],
      };
      const whole = thing(name);
      const annotations = { "old/drain": "Draining" };
      const body = { ...whole, metadata: { ...whole.metadata, annotations }, spec };
      await other.request({ method: "POST", path, query: { fieldManager: "old-operator" }, body });
      await patchByOther({ spec: { limit: 7 } });
      const adopting = createWriter<Thing>({
        transport,
        type: things,
        manager,
        namespace,
        cache,
        adopts: ["old-operator"],
      });
      const intent = { metadata: { name }, spec: { color: "red", ports: [{ name: "p0", speed: 10 }] } };
      expect(await adopting.apply(intent)).toBe("written");
      await untilHeard();
      expect(specOf(await read())).toEqual({
        ...intent.spec,
        ports: [{ ...intent.spec.ports[0], protocol: "TCP" }],
        limit: 7,
      });
      expect(await read()).toMatchObject({ metadata: { annotations } });
      expect(await adopting.apply(intent)).toBe("unchanged");
      await restart();
      expect(await apply(intent.spec)).toBe("unchanged");
      expect(await writes()).toBe(2);
    },
    testMs,
  );

  it(
    "reads the object first if it has no cache",
    async () => {
      const bare = createWriter<Thing>({ transport, type: things, manager, namespace });
      const intent = { metadata: { name }, spec: { color: "red", ports: [{ name: "p0" }] } };
      expect([await bare.apply(intent), await bare.apply(intent)]).toEqual(["written", "unchanged"]);
      const again = createWriter<Thing>({ transport, type: things, manager, namespace });
      expect(await again.apply(intent)).toBe("unchanged");
      expect(await again.apply({ ...intent, spec: { color: "red" } })).toBe("written");
      expect(specOf(await read())).toEqual({ color: "red" });
      await untilHeard();
    },
    testMs,
  );

  it(
    "deletes only the version that it has seen; deleting again has no effect",
    async () => {
      await apply({ color: "red" });
      const seen = cache.get(name);
      if (seen === undefined) throw new Error("not seen");
      await patchByOther({ spec: { color: "blue" } });
      await expect(writer.delete(seen)).rejects.toMatchObject({ code: "Conflict", status: 409 });
      const { metadata } = cache.get(name) ?? seen;
      await expect(writer.delete({ metadata: { ...metadata, uid: "another" } })).rejects.toMatchObject({
        code: "Conflict",
      });
      await writer.delete({ metadata });
      await writer.delete({ metadata });
      await expect(read()).rejects.toMatchObject({ code: "NotFound" });
    },
    testMs,
  );

  it(
    "does not write an object of the same name with another uid",
    async () => {
      await apply({ color: "red" });
      const uid = cache.get(name)?.metadata.uid ?? "";
      expect(await apply({ color: "blue" }, { uid })).toBe("written");
      await writer.delete({ metadata: { name } });
      await eventually("the cache has no such object", () => cache.get(name) === undefined);
      const intent = { metadata: { name, uid }, spec: { color: "red" } };
      await expect(writer.apply(intent)).rejects.toMatchObject({ code: "Conflict" });
      await expect(read()).rejects.toMatchObject({ code: "NotFound" });
    },
    testMs,
  );

  it(
    "patches labels of an object of others, if the uid is the same",
    async () => {
      await other.request({
        method: "POST",
        path: `/apis/test.switchyard.io/v1/namespaces/${namespace}/things`,
        body: thing(name),
      });
      await untilHeard();
      const object = cache.get(name);
      if (object === undefined) throw new Error("not seen");
      const patch = { transport, type: things, labels: { ours: "1" } };
      expect(await patchMetadata({ ...patch, object })).toBe("written");
      await untilHeard();
      expect(await patchMetadata({ ...patch, object: cache.get(name) ?? object })).toBe("unchanged");
      const impostor = { metadata: { ...object.metadata, uid: "another" } };
      await expect(patchMetadata({ ...patch, object: impostor })).rejects.toMatchObject({ code: "Invalid" });
      expect(await read()).toMatchObject({ metadata: { labels: { ours: "1", theirs: "1" } } });
    },
    testMs,
  );
});

function thing(name: string) {
  return { apiVersion: "test.switchyard.io/v1", kind: "Thing", metadata: { name, labels: { theirs: "1" } }, spec: {} };
}

function specOf(object: unknown): unknown {
  return typeof object === "object" && object !== null ? Reflect.get(object, "spec") : undefined;
}

function versionOf(object: unknown): unknown {
  const metadata: unknown = typeof object === "object" && object !== null ? Reflect.get(object, "metadata") : undefined;
  return typeof metadata === "object" && metadata !== null ? Reflect.get(metadata, "resourceVersion") : undefined;
}

function daemonSetSpec(cpu: string) {
  const labels = { app: "test" };
  const valueFrom = { fieldRef: { apiVersion: "v1", fieldPath: "spec.nodeName" } };
  const container = {
    name: "main",
    image: "main:1",
    env: [{ name: "NODE_NAME", valueFrom }],
    ports: [{ containerPort: 8080 }],
    resources: { requests: { cpu } },
  };
  return {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container], volumes: [{ name: "v", emptyDir: {} }] } },
  };
}

const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.test.switchyard.io" },
  spec: {
    group: "test.switchyard.io",
    scope: "Namespaced",
    names: { plural: "things", singular: "thing", kind: "Thing" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  color: { type: "string" },
                  size: { type: "integer" },
                  limit: { "x-kubernetes-int-or-string": true },
                  options: { type: "object", additionalProperties: { type: "string" } },
                  words: { type: "array", items: { type: "string" } },
                  ports: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name", "protocol"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: {
                        name: { type: "string" },
                        speed: { type: "integer" },
                        protocol: { type: "string", default: "TCP" },
                      },
                    },
                  },
                },
              },
              status: {
                type: "object",
                properties: {
                  phase: { type: "string" },
                  conditions: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                    items: {
                      type: "object",
                      required: ["type"],
                      properties: { type: { type: "string" }, status: { type: "string" } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
