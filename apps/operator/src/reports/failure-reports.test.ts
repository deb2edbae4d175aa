// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpNetworks,
  bridgeNetworks,
  ovsNetworks,
  sriovIBNetworks,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovNetworks,
  sriovOperatorConfigs,
} from "@switchyard/api";
import {
  apiVersionOf,
  KubeError,
  ObjectStore,
  type KubeObject,
  type EventToRecord,
  type ResourceType,
  type TransportRequest,
} from "@switchyard/kube";
import type { ClusterCaches } from "../cluster-caches.ts";
import { createFailureReports, type FailureReportsDeps } from "./failure-reports.ts";
import { fieldManagers } from "../field-managers.ts";

const namespace = "sriov-network-operator";
const { signal } = new AbortController();

/** Objects in memory, and the writes to them. */
function setUp() {
  const store = (type: ResourceType, ofNamespace?: string) =>
    new ObjectStore({
      type,
      namespace: ofNamespace,
      project: (object: KubeObject) => object,
      managers: [fieldManagers.failures],
    });
  const stores = {
    operatorConfigs: store(sriovOperatorConfigs, namespace),
    states: store(sriovNetworkNodeStates, namespace),
    policies: store(sriovNetworkNodePolicies, namespace),
    pools: store(sriovNetworkPoolConfigs, namespace),
    sriovNetworks: store(sriovNetworks),
    sriovIBNetworks: store(sriovIBNetworks),
    ovsNetworks: store(ovsNetworks),
    bridgeNetworks: store(bridgeNetworks),
    afxdpNetworks: store(afxdpNetworks),
    afxdpStates: store(afxdpNetworkNodeStates, namespace),
    afxdpPolicies: store(afxdpNetworkNodePolicies, namespace),
  };
  const writes: TransportRequest[] = [];
  const news: EventToRecord[] = [];
  let nowMs = 0;
  const reports = createFailureReports({
    namespace,
    caches: stores as unknown as ClusterCaches,
    events: { record: (each) => news.push(each) },
    now: () => new Date(nowMs),
    transport: {
      request(request: TransportRequest) {
        writes.push(request);
        return Promise.resolve({ ...(request.body as object), metadata: { name: "x", resourceVersion: "9" } });
      },
    } as unknown as FailureReportsDeps["transport"],
  });
  const targets: string[] = [];
  for (const source of reports.controller.sources) source.start((key) => targets.push(key));
  return {
    reports,
    news,
    writes,
    targets,
    stores,
    pass: (ms: number) => {
      nowMs += ms;
    },
    put(type: ResourceType, into: ObjectStore<KubeObject, KubeObject>, name: string, more = {}, place = namespace) {
      const metadata = { name, namespace: place, uid: `uid-${name}`, resourceVersion: "1", ...more };
      const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, status: { conditions: [stale] } };
      into.upsert(object);
    },
    /** Performs the pending writes, and returns path and message of each. */
    async written() {
      for (const target of new Set(targets.splice(0))) await reports.controller.reconcile(target, signal);
      return writes.splice(0).map(({ path, body }) => {
        const { status } = body as { status: { conditions: readonly { message: string }[] } };
        return `${path.split("/").slice(-3).join("/")}: ${status.conditions.map(({ message }) => message).join()}`;
      });
    },
  };
}

const stale = { type: "ReconcileFailed", status: "True", reason: "Retrying", message: "x", lastTransitionTime: "" };
const managed = {
  managedFields: [
    {
      manager: fieldManagers.failures,
      operation: "Apply",
      subresource: "status",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:status": { "f:conditions": { 'k:{"type":"ReconcileFailed"}': { ".": {}, "f:type": {} } } } },
    },
  ],
};

const refused = new KubeError("PATCH x", "Forbidden", { words: "no" });

describe("createFailureReports", () => {
  it("reports on the object of the key, from the second consecutive failure until a success", async () => {
    const { reports, put, stores, written, news } = setUp();
    put(sriovNetworkNodeStates, stores.states, "worker-1");
    const work = { controller: "drain", about: "node", key: "worker-1" } as const;
    reports.failed({ ...work, failures: 1 }, refused);
    expect(await written()).toEqual([]);
    reports.failed({ ...work, failures: 2 }, refused);
    reports.failed({ ...work, failures: 3 }, refused);
    const message = `controller drain: ${refused.message}; retrying`;
    expect(await written()).toEqual([`sriovnetworknodestates/worker-1/status: ${message}`]);
    expect(news.map(({ reason, note, regarding }) => [reason, note, regarding.metadata.uid])).toEqual([
      ["ReconcileFailed", message, "uid-worker-1"],
    ]);
    put(sriovNetworkNodeStates, stores.states, "worker-1", { resourceVersion: "9", ...managed });
    reports.succeeded(work);
    expect(await written()).toEqual(["sriovnetworknodestates/worker-1/status: "]);
    put(sriovNetworkNodeStates, stores.states, "worker-1", { resourceVersion: "10" });
    reports.succeeded(work);
    expect(await written()).toEqual([]);
  });

  it("removes the condition also if the cache does not show it yet", async () => {
    const { reports, put, stores, written } = setUp();
    put(sriovOperatorConfigs, stores.operatorConfigs, "default");
    const work = { controller: "operator-config", about: undefined, key: "default" } as const;
    reports.failed({ ...work, failures: 2 }, refused);
    expect(await written()).toHaveLength(1);
    reports.succeeded(work);
    expect(await written()).toEqual(["sriovoperatorconfigs/default/status: "]);
    put(sriovOperatorConfigs, stores.operatorConfigs, "default", { resourceVersion: "10" });
    expect(await written()).toEqual([]);
  });

  it("reports on the SriovOperatorConfig if the key names no object, or one that does not exist", async () => {
    const { reports, put, stores, written } = setUp();
    put(sriovOperatorConfigs, stores.operatorConfigs, "default");
    reports.failed({ controller: "node-state", about: "node", key: "new", failures: 2 }, new TypeError("oops"));
    reports.failed({ controller: "drain-slots", about: undefined, key: "slots", failures: 2 }, refused);
    expect(await written()).toEqual([
      "sriovoperatorconfigs/default/status: controller node-state: unexpected error: oops; " +
        `controller drain-slots: ${refused.message}; retrying`,
    ]);
  });

  it("finds a network in its namespace", async () => {
    const { reports, put, stores, written } = setUp();
    put(ovsNetworks, stores.ovsNetworks, "blue", {}, "tenant-a");
    const key = "OVSNetwork.sriovnetwork.openshift.io/tenant-a/blue";
    reports.failed({ controller: "networks", about: "network", key, failures: 5 }, refused);
    expect((await written())[0]).toMatch(/^ovsnetworks\/blue\/status: /);
  });

  it("removes the condition of an earlier operator, and keeps conditions of other writers", async () => {
    const { put, stores, written } = setUp();
    put(sriovNetworkNodePolicies, stores.policies, "mine", managed);
    put(sriovNetworkNodePolicies, stores.policies, "other");
    expect(await written()).toEqual(["sriovnetworknodepolicies/mine/status: "]);
  });

  it("changes the text rarely, and limits its size", async () => {
    const { reports, put, stores, written, pass } = setUp();
    put(sriovNetworkPoolConfigs, stores.pools, "p");
    const fail = (text: string) => {
      const work = { controller: "pool-status", about: "pool", key: "p", failures: 2 } as const;
      reports.failed(work, new Error(text));
    };
    fail("a".repeat(1_000_000));
    expect((await written()).join().length).toBeLessThan(1_000);
    fail("b");
    expect(await written()).toEqual([]);
    pass(31_000);
    fail("c");
    expect((await written()).join()).toContain("unexpected error: c; retrying");
  });
});
