// SPDX-License-Identifier: Apache-2.0
/**
 * Caches of 10,000 objects on a real API server whose connection is cut, which crashes, and which forgets old
 * versions (410).
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  collectionPath,
  connect,
  isKubeError,
  listPages,
  objectPath,
  watchObjects,
  type Cache,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { SeverableLink } from "../../src/api/severable-link.ts";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const namespace = "many";
const total = 10_000;
const coldStartMs = 10 * 60_000;
const testMs = 5 * 60_000;

describe("a cache of 10,000 objects", () => {
  let cluster: ControlPlane;
  let link: SeverableLink;
  /** Bypasses the link, to change objects while the link is cut. */
  let direct: Transport;
  let watched: Transport;
  let cache: Cache<string> & AsyncDisposable;
  const reported: unknown[] = [];
  const gone: string[] = [];

  beforeAll(async () => {
    cluster = await startControlPlane({ auditLog: true });
    link = await SeverableLink.to(cluster.server);
    direct = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "direct" });
    await cluster.kubectl(["create", "namespace", namespace]);
    await forEach(total, (index) => create(`o-${index}`));

    const kubeconfig = join(cluster.dataDir, "through-link.kubeconfig");
    await writeFile(kubeconfig, (await readFile(cluster.kubeconfig, "utf8")).replace(cluster.server, link.url));
    watched = await connect({ kubeconfig, userAgent: "watched" });
    cache = watchObjects({
      transport: watched,
      type: configMaps,
      namespace,
      project: ({ data }: ConfigMap) => data?.["color"] ?? "",
      report: (error) => reported.push(isKubeError(error) ? error.code : error),
    });
    cache.subscribe(({ key, after }) => {
      if (after === undefined) gone.push(key);
    });
  }, coldStartMs);

  afterAll(async () => {
    await cache[Symbol.asyncDispose]();
    await watched[Symbol.asyncDispose]();
    await direct[Symbol.asyncDispose]();
    await link[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  const path = (name: string) => objectPath(configMaps, { name, namespace });

  function create(name: string, color = "red"): Promise<unknown> {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { color } };
    return direct.request({ method: "POST", path: collectionPath(configMaps, namespace), body });
  }

  /** Creates, deletes and patches 100 objects each. The names of the new ones begin with `mark`. */
  async function change(mark: string, first: number): Promise<void> {
    await forEach(100, (index) => create(`${mark}-${index}`, mark));
    await forEach(100, (index) => direct.request({ method: "DELETE", path: path(`o-${first + index}`) }));
    await forEach(100, (index) =>
      direct.request({
        method: "PATCH",
        path: path(`o-${first + 100 + index}`),
        contentType: "application/merge-patch+json",
        body: { data: { color: mark } },
      }),
    );
  }

  /** Waits until the cache has the same objects and values as the API server. */
  async function untilEqual(): Promise<void> {
    const stored = new Map<string, string>();
    for await (const page of listPages(direct, { type: configMaps, namespace, pageSize: 2000 })) {
      for (const item of page.items) stored.set(item.metadata.name, colorOf(item));
    }
    const isEqual = () => cache.size === stored.size && [...stored].every(([name, color]) => cache.get(name) === color);
    await eventually("the cache equals the server", isEqual, { withinMs: 60_000 });
  }

  const lists = async () =>
    (await cluster.auditEvents()).filter(({ userAgent, verb }) => userAgent === "watched" && verb === "list").length;

  it(
    "lists all objects in pages of 500 and follows changes",
    async () => {
      await cache.whenSynced(AbortSignal.timeout(60_000));
      expect(cache.size).toBe(total);
      await change("followed", 0);
      await untilEqual();
      await eventually("20 pages in the audit log", async () => (await lists()) === total / 500);
      expect(reported).toEqual([]);
    },
    testMs,
  );

  it(
    "gets all changes from a time without a connection, without a new list",
    async () => {
      const before = await lists();
      link.cut();
      await change("cut", 1000);
      link.mend();
      await untilEqual();
      expect(await lists()).toBe(before);
    },
    testMs,
  );

  it(
    "lists again after a crash of a server that lost the history, and reports all deleted objects",
    async () => {
      const before = await lists();
      link.cut();
      gone.length = 0;
      await change("forgotten", 2000);
      await cluster.compactEtcd();
      await cluster.killApiServer();
      await cluster.startApiServer();
      link.mend();
      await untilEqual();
      expect(gone.sort()).toEqual(Array.from({ length: 100 }, (_, index) => `o-${2000 + index}`).sort());
      await eventually("another list", async () => (await lists()) === before + total / 500);
    },
    testMs,
  );

  it(
    "keeps its objects during a crash and a graceful stop of the server",
    async () => {
      await cluster.killApiServer();
      expect(cache.size).toBe(total);
      await cluster.startApiServer();
      await change("crashed", 3000);
      await untilEqual();
      await cluster.stopApiServer();
      await cluster.startApiServer();
      await change("stopped", 4000);
      await untilEqual();
      // A server that stops or starts answers 503 for a moment.
      const passing = new Set<unknown>(["ConnectionLost", "Timeout", "ServiceUnavailable"]);
      expect(reported.filter((code) => !passing.has(code))).toEqual([]);
    },
    testMs,
  );
});

function colorOf(item: KubeObject): string {
  const data: unknown = Reflect.get(item, "data");
  return typeof data === "object" && data !== null && "color" in data ? String(data.color) : "";
}

/** Calls `work` with 0 to count - 1, 32 calls at a time. */
async function forEach(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const hand = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 32 }, hand));
}
