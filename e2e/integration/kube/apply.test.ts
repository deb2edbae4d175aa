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
    /** Owned whole. */
    readonly words?: readonly string[];
    /** Owned entry by entry. */
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
  /** Somebody else. */
  let other: Transport;
  let cache: Cache<Thing> & AsyncDisposable;
  let writer: Writer<Thing>;
  let name: string;
  let tests = 0;

  beforeAll(async () => {
    cluster = await startControlPlane({ auditLog: true });
    await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(crd) });
    await cluster.kubectl(["wait", "--for=condition=Established", "crd", "--all"]);
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

  /** A process that has just started: it knows what the API server knows, and nothing else. */
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
      // Neither managedFields nor much else is kept: the writer does without.
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

  /** Waits until the cache knows what was done last. */
  async function untilHeard(type: ResourceType = things, heard: Cache<KubeObject> = cache): Promise<void> {
    const version = versionOf(await read(type));
    await eventually("the cache to hear", () => heard.observed({ name, namespace })?.resourceVersion === version);
  }

  async function apply(spec: Thing["spec"], metadata: Partial<Intent<Thing>["metadata"]> = {}): Promise<string> {
    const result = await writer.apply({ metadata: { name, ...metadata }, ...(spec && { spec }) });
    await untilHeard();
    return result;
  }

  /** What the writer has sent about the present object, according to the API server. */
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
    "writes once, and never again while nothing differs: not for others' changes, not after a restart",
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
    "takes away what leaves the intent, also what left it while the process was down",
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
    { edit: "a value that was taken away", patch: { spec: { color: null } } },
    { edit: "a label", patch: { metadata: { labels: { app: "other" } } } },
    { edit: "an entry of a map", patch: { spec: { options: { a: "2" } } } },
    { edit: "a list that is owned whole", patch: { spec: { words: ["x", "y", "z"] } } },
    { edit: "an entry of a list with keys", patch: { spec: { ports: [{ name: "p0", speed: 1 }] } } },
    { edit: "a list with keys that was emptied", patch: { spec: { ports: [] } } },
  ])(
    "undoes what others do to $edit",
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
    "leaves entries that others have put among its own",
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
    "knows an entry whose key the server has filled in",
    async () => {
      expect(await apply({ ports: [{ name: "p0", protocol: "UDP" }, { name: "p0" }] })).toBe("written");
      expect(await read()).toMatchObject({ spec: { ports: [{ protocol: "UDP" }, { protocol: "TCP" }] } });
      await restart();
      expect(await apply({ ports: [{ name: "p0", protocol: "UDP" }, { name: "p0" }] })).toBe("unchanged");
    },
    testMs,
  );

  it(
    "follows an order that has changed, and empty values",
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
    "empties what it had filled: a map, all of the spec",
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
    "creates again what was deleted",
    async () => {
      await apply({ color: "red" });
      await other.request({ method: "DELETE", path: objectPath(things, { name, namespace }) });
      await eventually("the cache to hear", () => cache.get(name) === undefined);
      expect(await apply({ color: "red" })).toBe("written");
    },
    testMs,
  );

  it(
    "writes status and the rest apart, each without touching the other",
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
    "spends one request after each restart on what the server stores in other words, and no more",
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
    "takes over from an operator that wrote by update: what it does not want of that goes, once",
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
    "does without a cache, by asking first",
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
    "deletes only what it has seen, and only once",
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
    "writes no object of the same name that is not the one that was meant",
    async () => {
      await apply({ color: "red" });
      const uid = cache.get(name)?.metadata.uid ?? "";
      expect(await apply({ color: "blue" }, { uid })).toBe("written");
      await writer.delete({ metadata: { name } });
      await eventually("the cache to hear", () => cache.get(name) === undefined);
      const intent = { metadata: { name, uid }, spec: { color: "red" } };
      await expect(writer.apply(intent)).rejects.toMatchObject({ code: "Conflict" });
      await expect(read()).rejects.toMatchObject({ code: "NotFound" });
    },
    testMs,
  );

  it(
    "shares foreign objects: labels and annotations by merge patch, for this very object",
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
