// SPDX-License-Identifier: Apache-2.0
/**
 * A cache and a writer that continue while a backup of etcd is restored, on a real API server. The clock of the cache runs fifty
 * times as fast, so that the silence of a watch takes three seconds.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  connect,
  createWriter,
  isKubeError,
  objectPath,
  watchObjects,
  type Cache,
  type KubeObject,
  type Transport,
  type Writer,
} from "@switchyard/kube";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const namespace = "default";
const manager = "restore-test";
const speed = 50;
const fastClock = {
  nowMs: () => performance.now() * speed,
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs / speed);
    return () => {
      clearTimeout(timer);
    };
  },
};

describe("a backup of etcd that is restored below a running cache and writer", () => {
  let cluster: ControlPlane;
  let transport: Transport;
  let cache: Cache<string> & AsyncDisposable;
  let writer: Writer<ConfigMap>;
  let restore: () => Promise<void>;
  const colorOf = ({ data }: ConfigMap) => data?.["color"] ?? "";

  beforeAll(async () => {
    cluster = await startControlPlane();
    transport = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
    const common = { transport, type: configMaps, namespace };
    cache = watchObjects({
      ...common,
      project: colorOf,
      managers: [manager],
      clock: fastClock,
      report: (error) => {
        if (!isKubeError(error)) throw error;
      },
    });
    writer = createWriter<ConfigMap>({ ...common, manager, cache });
    await put("old", "red");
    await untilCached("old", "red");
    restore = await cluster.backUpEtcd();
    await put("old", "blue");
    await put("late", "blue");
    await apply("own", "red");
    await apply("changes", "red");
    for (let count = 0; count < 100; count++) await put("noise", `${count}`);
    await apply("changes", "blue");
    await untilCached("noise", "99");
    await untilCached("changes", "blue");
    await restore();
  }, 10 * 60_000);

  afterAll(async () => {
    await cache[Symbol.asyncDispose]();
    await transport[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  const apply = (name: string, color: string) => writer.apply({ metadata: { name, namespace }, data: { color } });

  const put = (name: string, color: string) =>
    transport.request({
      method: "PATCH",
      path: objectPath(configMaps, { name, namespace }),
      query: { fieldManager: "other", force: true },
      contentType: "application/apply-patch+yaml",
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { color } },
    });

  const stored = (name: string) =>
    cluster.kubectl(["get", "configmap", name, "-n", namespace, "--ignore-not-found", "-o", "jsonpath={.data.color}"]);

  const untilCached = (name: string, color: string | undefined) =>
    eventually(`${name} is ${color ?? "gone"}`, () => cache.get(name) === color, { withinMs: 60_000 });

  it("brings back the old content in the cache, and drops what was created after it", async () => {
    expect([await stored("old"), await stored("late")]).toEqual(["red", ""]);
    await untilCached("old", "red");
    await untilCached("late", undefined);
    await untilCached("own", undefined);
    expect(cache.rewinds).toBeGreaterThanOrEqual(1);
  });

  it("does not keep a writer from sending what it had sent before", async () => {
    expect([await apply("own", "red"), await apply("changes", "blue")]).toEqual(["written", "written"]);
    expect([await stored("own"), await stored("changes")]).toEqual(["red", "blue"]);
  });

  it("does not keep the cache from later changes, although their versions are earlier than those before", async () => {
    await put("new", "green");
    await put("old", "green");
    await untilCached("new", "green");
    await untilCached("old", "green");
    await untilCached("changes", "blue");
  });
});
