// SPDX-License-Identifier: Apache-2.0
/**
 * createNetworkCluster returns a cluster in memory in which the networks controller runs: settle() reconciles until all
 * events are handled.
 */
import {
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  annotations,
  networkAttachmentDefinitions,
  namespaces,
  sriovNetworkNodeStates,
  type AfxdpNetworkNodeStateSpec,
  type AfxdpProvider,
  type Condition,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { apiVersionOf, isRecord, ObjectStore, type EventToRecord } from "@switchyard/kube";
import { networkTypes, type ComponentSettings, type NetworkKind } from "@switchyard/render";
import { toCachedNodeState, type CachedNodeState } from "../../facts/cached-node-state.ts";
import { afxdpStores } from "../../facts/afxdp-caches.ts";
import { networkStores } from "../../facts/network-caches.ts";
import { networkController } from "../network-controller.ts";
import type { ResetHold } from "../../node-states/reset-hold.ts";
import { createMemoryApi, type StoredObject } from "./memory-api.ts";

export const operatorNamespace = "sriov-network-operator";

/** Returns the CNI configuration of a NetworkAttachmentDefinition, or {}. */
export function configOf(nad: StoredObject | undefined): SomeSpec {
  const spec = nad?.["spec"];
  const config: unknown = isRecord(spec) ? JSON.parse(String(spec["config"])) : undefined;
  return isRecord(config) ? config : {};
}

/** Fields of a spec, valid or not. */
export type SomeSpec = Readonly<Record<string, unknown>>;

/** Images of all CNI plugins that the operator can install. */
const pluginImages = {
  sriovCni: "example.com/sriov:1",
  ibSriovCni: "example.com/ib-sriov:1",
  ovsCni: "example.com/ovs:1",
  acceleratedBridgeCni: "example.com/accelerated-bridge:1",
};

/** The cluster has the operator's namespace and the namespaces "tenant" and "other". */
export function createNetworkCluster({
  images = pluginImages,
}: { readonly images?: ComponentSettings["images"] } = {}) {
  const stores = {
    sriovNetworks: new ObjectStore(networkStores.sriovNetworks),
    sriovIBNetworks: new ObjectStore(networkStores.sriovIBNetworks),
    ovsNetworks: new ObjectStore(networkStores.ovsNetworks),
    bridgeNetworks: new ObjectStore(networkStores.bridgeNetworks),
    afxdpNetworks: new ObjectStore(networkStores.afxdpNetworks),
    afxdpStates: new ObjectStore({ ...afxdpStores.afxdpStates, namespace: operatorNamespace }),
    afxdpConfigs: new ObjectStore({ ...afxdpStores.afxdpConfigs, namespace: operatorNamespace }),
    networkAttachmentDefinitions: new ObjectStore(networkStores.networkAttachmentDefinitions),
    namespaces: new ObjectStore(networkStores.namespaces),
  };
  const states = new ObjectStore<SriovNetworkNodeState, CachedNodeState>({
    type: sriovNetworkNodeStates,
    namespace: operatorNamespace,
    project: toCachedNodeState,
  });
  for (const store of [...Object.values(stores), states]) {
    store.beginList();
    store.endList("1");
  }
  const api = createMemoryApi([
    { type: networkTypes.SriovNetwork, sink: stores.sriovNetworks },
    { type: networkTypes.SriovIBNetwork, sink: stores.sriovIBNetworks },
    { type: networkTypes.OVSNetwork, sink: stores.ovsNetworks },
    { type: networkTypes.BridgeNetwork, sink: stores.bridgeNetworks },
    { type: networkTypes.AfxdpNetwork, sink: stores.afxdpNetworks },
    { type: afxdpNetworkNodeStates, sink: stores.afxdpStates },
    { type: afxdpOperatorConfigs, sink: stores.afxdpConfigs },
    { type: networkAttachmentDefinitions, sink: stores.networkAttachmentDefinitions },
    { type: namespaces, sink: stores.namespaces },
    { type: sriovNetworkNodeStates, sink: states },
  ]);
  for (const name of [operatorNamespace, "tenant", "other"]) {
    api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  const told: EventToRecord[] = [];
  const lost = { settleMs: 0, kinds: new Map<NetworkKind, ResetHold>() };
  const pending = new Set<string>();
  const requeued = new Map<string, number>();
  let nowMs = Date.parse("2026-11-20T12:00:00Z");
  let operator = startOperator();

  function startOperator() {
    const { reconcile, sources } = networkController({
      transport: api,
      settings: { namespace: operatorNamespace, resourcePrefix: "openshift.io", components: { images } },
      caches: { ...stores, states },
      events: { record: (news) => told.push(news), [Symbol.asyncDispose]: () => Promise.resolve() },
      deletions: { remainingMs: () => lost.settleMs },
      findNetworkHold: (kind) => Promise.resolve(lost.kinds.get(kind)),
      now: () => new Date((nowMs += 1000)),
    });
    const ends = sources.map((source) => source.start((ref) => pending.add(ref)));
    return { reconcile, ends };
  }

  const cluster = {
    api,
    nads: stores.networkAttachmentDefinitions,
    networks: { SriovNetwork: stores.sriovNetworks },
    requeued,
    /** Why networks may be absent against the wish of their users. */
    lost,
    /** Returns the events in order: "Normal NetworkReady SriovNetwork/blue". */
    news: () =>
      told.map(({ type, reason, regarding }) => `${type} ${reason} ${regarding.kind}/${regarding.metadata.name}`),
    addNamespace(...names: readonly string[]): void {
      for (const name of names) api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    },
    /** Adds a network, by default in the operator's namespace, or adds fields to the spec of an existing one. */
    addNetwork(kind: NetworkKind, name: string, spec: SomeSpec = {}, namespace = operatorNamespace): void {
      const fresh = kind === "AfxdpNetwork" ? { poolName: "nics" } : { resourceName: "nics" };
      const before = api.get(networkTypes[kind], { namespace, name }) === undefined ? fresh : {};
      api.put({
        apiVersion: apiVersionOf(networkTypes[kind]),
        kind,
        metadata: { name, namespace },
        spec: { ...before, ...spec },
      });
    },
    removeNetwork(kind: NetworkKind, name: string, namespace = operatorNamespace): void {
      api.delete(networkTypes[kind], { namespace, name });
    },
    network(kind: NetworkKind, name: string, namespace = operatorNamespace): StoredObject | undefined {
      return api.get(networkTypes[kind], { namespace, name });
    },
    /** Adds a NAD or changes it, as a user does, or as `manager` does by an update. */
    addNad(
      place: string,
      {
        marks = {},
        config = "{}",
        manager,
      }: { marks?: Readonly<Record<string, string | null>>; config?: string; manager?: string },
    ) {
      const [namespace = "", name = ""] = place.split("/");
      const { group, version, kind } = networkAttachmentDefinitions;
      const managedFields = manager && [{ manager, operation: "Update", fieldsV1: { "f:spec": { "f:config": {} } } }];
      const metadata = { name, namespace, annotations: marks, ...(managedFields && { managedFields }) };
      api.put({ apiVersion: `${group}/${version}`, kind, metadata, spec: { config } });
    },
    removeNad(place: string): void {
      api.delete(networkAttachmentDefinitions, named(place));
    },
    nad: (place: string) => api.get(networkAttachmentDefinitions, named(place)),
    /** Returns the owner-ref of each NAD by "namespace/name". */
    owners: () =>
      Object.fromEntries(
        api.list(networkAttachmentDefinitions).map(({ metadata: { namespace, name, annotations: marks = {} } }) => {
          return [`${namespace ?? ""}/${name}`, marks[annotations.ownerRef] ?? ""];
        }),
      ),
    /** Acts as the garbage collector: deletes NADs whose owner is gone. */
    collectGarbage(): void {
      const alive = new Set(
        Object.values(networkTypes).flatMap((type) => api.list(type).map(({ metadata }) => metadata.uid)),
      );
      for (const { metadata } of api.list(networkAttachmentDefinitions)) {
        const { ownerReferences = [] } = metadata;
        if (ownerReferences.some(({ uid }) => !alive.has(uid))) api.delete(networkAttachmentDefinitions, metadata);
      }
    },
    /** Sets the provider of AF_XDP in the AfxdpOperatorConfig. */
    setProvider(provider: AfxdpProvider): void {
      const metadata = { name: "default", namespace: operatorNamespace };
      api.put({
        apiVersion: apiVersionOf(afxdpOperatorConfigs),
        kind: "AfxdpOperatorConfig",
        metadata,
        spec: { provider },
      });
    },
    setAfxdpState(name: string, spec: AfxdpNetworkNodeStateSpec): void {
      const apiVersion = apiVersionOf(afxdpNetworkNodeStates);
      api.put({ apiVersion, kind: "AfxdpNetworkNodeState", metadata: { name, namespace: operatorNamespace }, spec });
    },
    setState(name: string, spec: SriovNetworkNodeStateSpec): void {
      const apiVersion = apiVersionOf(sriovNetworkNodeStates);
      api.put({ apiVersion, kind: "SriovNetworkNodeState", metadata: { name, namespace: operatorNamespace }, spec });
    },
    /** Returns the condition Ready as "True NetworkReady: …", or "". */
    ready(kind: NetworkKind, name: string, namespace = operatorNamespace): string {
      const ready = conditionsOf(cluster.network(kind, name, namespace)).find(({ type }) => type === "Ready");
      return ready === undefined ? "" : `${ready.status} ${ready.reason}: ${ready.message}`;
    },
    conditions: (kind: NetworkKind, name: string, namespace = operatorNamespace) =>
      conditionsOf(cluster.network(kind, name, namespace)),
    /** Returns the keys that are enqueued. */
    woken: (): readonly string[] => [...pending],
    /**
     * Reconciles all keys concurrently until none is enqueued. Rejects with the error of a reconcile, which later()
     * retries.
     */
    async settle(): Promise<void> {
      for (let rounds = 0; pending.size > 0; rounds++) {
        if (rounds > 100) throw new Error(`does not come to rest: ${[...pending].join(" ")}`);
        const refs = [...pending];
        pending.clear();
        await Promise.all(
          refs.map(async (ref) => {
            requeued.set(ref, 0); // retried by later() if it fails
            const requeue = await operator.reconcile(ref, AbortSignal.timeout(10_000));
            if (requeue === undefined) requeued.delete(ref);
            else requeued.set(ref, requeue.afterMs);
          }),
        );
      }
    },
    /** Reconciles the keys that were requeued. */
    async later(): Promise<void> {
      for (const ref of requeued.keys()) pending.add(ref);
      await cluster.settle();
    },
    stop(): void {
      for (const end of operator.ends) end();
      pending.clear();
    },
    start(): void {
      operator = startOperator();
    },
  };
  return cluster;
}

function named(place: string) {
  const [namespace = "", name = ""] = place.split("/");
  return { namespace, name };
}

function conditionsOf(object: StoredObject | undefined): readonly Condition[] {
  const status = object?.["status"];
  const conditions: unknown = isRecord(status) ? status["conditions"] : undefined;
  return Array.isArray(conditions) ? conditions.filter(isCondition) : [];
}

function isCondition(value: unknown): value is Condition {
  return isRecord(value) && typeof value["type"] === "string" && typeof value["status"] === "string";
}
