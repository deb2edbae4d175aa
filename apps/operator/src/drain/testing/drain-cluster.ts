// SPDX-License-Identifier: Apache-2.0
/**
 * createDrainCluster returns a cluster in memory for the drain controllers, with an API server, caches that can lag
 * behind, pods that cannot be evicted, and operators that can die at any write.
 */
import {
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  annotations,
  defined,
  machineConfigPools,
  machineConfigs,
  nodes as nodeType,
  resourceSlices,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type AfxdpNetworkNodeState,
  type Condition,
  type DrainRequest,
  type Node,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
  type SriovNetworkPoolConfigSpec,
  type SriovOperatorConfig,
} from "@switchyard/api";
import {
  isRecord,
  KubeError,
  ObjectStore,
  type EventToRecord,
  type ResourceType,
  type Transport,
  type TransportRequest,
} from "@switchyard/kube";
import { afxdpStores, type CachedAfxdpState } from "../../facts/afxdp-caches.ts";
import { createAfxdpLiveRules } from "../../facts/afxdp-live-rules.ts";
import { createLiveRules } from "../../facts/live-rules.ts";
import { createNicListStore } from "../../facts/nic-list.ts";
import { fieldManagers } from "../../field-managers.ts";
import { nic } from "../../testing/cluster.ts";
import { createMemoryApi } from "../../networks/testing/memory-api.ts";
import { toCachedNodeState, type CachedNodeState } from "../../facts/cached-node-state.ts";
import { drainControllers, type DrainOptions } from "../drain-controllers.ts";
import { createDrainCarriers, createDrainRules } from "../drain-carriers.ts";
import { drainPausesKey } from "../slots/machine-config-pools.ts";
import { drainSlotsKey } from "../slots/drain-slots-reconciler.ts";
import type { NodePods } from "../eviction/node-pods.ts";
import type { DrainedPod } from "@switchyard/policy";

export const drainNamespace = "sriov-network-operator";

/** Returns a pod without VFs. */
export function pod(name: string, overrides: Partial<DrainedPod> = {}): DrainedPod {
  return {
    name,
    namespace: "apps",
    uid: `uid-${name}`,
    endsBy: undefined,
    finalizers: [],
    isFinished: false,
    kind: "other",
    holdsVfs: false,
    hasAfxdpDevices: false,
    claims: [],
    toleratesDrain: false,
    ...overrides,
  };
}

export type DrainCluster = ReturnType<typeof createDrainCluster>;

/** What a daemon reports about the pods that have VFs. */
export interface ReportOptions {
  /** status.publishedVfs */
  readonly publishedVfs?: number;
  readonly since?: string;
  readonly isKnown?: boolean;
  /** By the index of the VF. */
  readonly uids?: Readonly<Record<number, string>>;
}

export function createDrainCluster({ clusterType = "kubernetes" }: { clusterType?: "kubernetes" | "openshift" } = {}) {
  const namespace = drainNamespace;
  const nodes = new ObjectStore({ type: nodeType, project: (node: Node) => node });
  const pools = new ObjectStore({
    type: sriovNetworkPoolConfigs,
    namespace,
    project: (pool: SriovNetworkPoolConfig) => pool,
  });
  const operatorConfigs = new ObjectStore({
    type: sriovOperatorConfigs,
    namespace,
    managers: [fieldManagers.defaultPoolStatus],
    project: (config: SriovOperatorConfig) => config,
  });
  const states = new ObjectStore<SriovNetworkNodeState, CachedNodeState>({
    type: sriovNetworkNodeStates,
    namespace,
    managers: [fieldManagers.drain],
    project: toCachedNodeState,
  });
  const afxdpStates = new ObjectStore<AfxdpNetworkNodeState, CachedAfxdpState>({
    ...afxdpStores.afxdpStates,
    namespace,
  });
  const afxdpConfigs = new ObjectStore({ ...afxdpStores.afxdpConfigs, namespace });
  const stores = [nodes, pools, operatorConfigs, states, afxdpStates, afxdpConfigs];
  for (const store of stores) {
    store.beginList();
    store.endList("0");
  }
  const unseen = (type: ResourceType) => ({ type, sink: new ObjectStore({ type, project: () => null }) });
  const api = createMemoryApi([
    { type: nodeType, sink: nodes },
    { type: sriovNetworkPoolConfigs, sink: pools },
    { type: sriovOperatorConfigs, sink: operatorConfigs },
    { type: sriovNetworkNodeStates, sink: states },
    { type: afxdpNetworkNodeStates, sink: afxdpStates },
    { type: afxdpOperatorConfigs, sink: afxdpConfigs },
    unseen(machineConfigs),
    unseen(machineConfigPools),
  ]);
  const stop = new AbortController();
  const policies = emptyStore();
  const sriovRules = createLiveRules(
    {
      policies,
      pools,
      operatorConfigs,
      staleDelayMs: 0,
      devMode: false,
      deviceClasses: { synced: true, served: true },
      nicList: createNicListStore(namespace),
    },
    stop.signal,
  );
  const afxdpRules = createAfxdpLiveRules({ afxdpPolicies: emptyStore(), afxdpConfigs, staleDelayMs: 0 }, stop.signal);
  const rules = createDrainRules({ rules: sriovRules, afxdpRules, pools }, stop.signal);
  const carriers = createDrainCarriers({ states, afxdpStates });

  /** Pods by node. */
  const podsOn = new Map<string, DrainedPod[]>();
  /** Messages of PodDisruptionBudgets by name of the pod. */
  const budgets = new Map<string, string>();
  const slices: object[] = [];
  const news: EventToRecord[] = [];
  let nowMs = Date.parse("2026-11-20T12:00:00Z");
  const transport: Transport = { ...api, request: send, watch: () => api.watch({ path: "" }) };
  let operator = startOperator();
  api.put({ kind: "SriovOperatorConfig", metadata: { name: "default", namespace } });

  function startOperator() {
    const pods: NodePods = {
      follow: (node) => (cluster.arePodsKnown ? (podsOn.get(node) ?? []) : undefined),
      list: (node) => Promise.resolve(podsOn.get(node) ?? []),
      leave: () => undefined,
      source: { start: () => () => undefined, whenSynced: () => Promise.resolve() },
      ages: [],
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    const options: DrainOptions = {
      transport,
      caches: { nodes, states, policies, pools, operatorConfigs, afxdpStates, afxdpConfigs },
      rules,
      pods,
      settings: { namespace, clusterType },
      record: (told) => news.push(told),
      nowMs: () => nowMs,
      elapsedMs: () => nowMs,
      random: () => 0,
    };
    return drainControllers(options);
  }

  async function send(request: TransportRequest): Promise<unknown> {
    if (request.method === "GET") return answer(request);
    cluster.beforeWrite(request);
    const result = await answer(request);
    cluster.afterWrite();
    return result;
  }

  /** Handles requests that the API in memory does not support: JSON patches, lists, evictions. */
  async function answer(request: TransportRequest): Promise<unknown> {
    if (request.path.endsWith("/eviction")) return evict(request);
    if (request.path.endsWith(`/${resourceSlices.plural}`))
      return { metadata: { resourceVersion: "0" }, items: slices };
    const listed = [...stateTypes, machineConfigPools].find(({ plural }) => request.path.endsWith(`/${plural}`));
    if (listed !== undefined) {
      await Promise.resolve();
      return { metadata: { resourceVersion: "0" }, items: api.list(listed) };
    }
    if (!Array.isArray(request.body)) return api.request(request);
    const name = request.path.slice(request.path.lastIndexOf("/") + 1);
    const type = stateTypes.find(({ plural }) => request.path.includes(`/${plural}/`)) ?? sriovNetworkNodeStates;
    const before: unknown = api.get(type, { name, namespace });
    let body: unknown = {};
    for (const { op, path, value } of request.body.filter(isOperation)) {
      const [, ...keys] = path.split("/").map((key) => key.replace("~1", "/"));
      if (op === "test" && valueAt(before, keys) !== value) {
        throw new KubeError(`PATCH ${request.path}`, "Invalid", { status: 422 });
      }
      if (op === "replace") body = keys.reduceRight<unknown>((below, key) => ({ [key]: below }), value);
    }
    return api.request({ ...request, body, contentType: "application/merge-patch+json" });
  }

  async function evict({ path }: TransportRequest): Promise<unknown> {
    await Promise.resolve();
    const name = path.split("/").at(-2) ?? "";
    const budget = budgets.get(name);
    if (budget !== undefined) {
      const details = { causes: [{ reason: "DisruptionBudget", message: budget }] };
      throw new KubeError(`POST ${path}`, "TooManyRequests", { status: 429, details });
    }
    for (const [node, pods] of podsOn)
      podsOn.set(
        node,
        pods.filter((each) => each.name !== name),
      );
    return {};
  }

  function annotationOf(type: ResourceType, name: string, annotation: string): string | undefined {
    const place = type.namespaced ? { name, namespace } : { name };
    return api.get(type, place)?.metadata.annotations?.[annotation];
  }

  const cluster = {
    api,
    nodes,
    states,
    podsOn,
    budgets,
    /** ResourceSlices. */
    slices,
    news,
    send,
    transport,
    /** Whether the pods of nodes are listed. */
    arePodsKnown: true,
    /** Called before and after each write of an operator. The operator gets what they throw instead of the response. */
    beforeWrite: (_request: TransportRequest): void => undefined,
    afterWrite: (): void => undefined,
    addNode(name: string, labels: Readonly<Record<string, string>> = {}, notes: Readonly<Record<string, string>> = {}) {
      cluster.addBareNode(name, labels, notes);
      cluster.addState(name);
    },
    addBareNode(name: string, labels: Readonly<Record<string, string>>, notes: Readonly<Record<string, string>> = {}) {
      const all = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "", ...labels };
      api.put({ kind: "Node", metadata: { name, labels: all, annotations: notes }, spec: {} });
    },
    /** Adds a node with an AfxdpNetworkNodeState only. */
    addAfxdpNode(name: string, labels: Readonly<Record<string, string>> = {}) {
      cluster.addBareNode(name, labels);
      api.put({ kind: "AfxdpNetworkNodeState", metadata: { name, namespace } });
    },
    /** Replaces the SriovOperatorConfig by an AfxdpOperatorConfig. */
    useAfxdpOnly() {
      api.delete(sriovOperatorConfigs, { name: "default", namespace });
      api.put({ kind: "AfxdpOperatorConfig", metadata: { name: "default", namespace } });
    },
    /** Adds the state that the operator creates, with a report of the daemon. */
    addState(name: string) {
      api.put({ kind: "SriovNetworkNodeState", metadata: { name, namespace }, status: { interfaces: [nic()] } });
    },
    addPool(name: string, spec: SriovNetworkPoolConfigSpec) {
      api.put({ kind: "SriovNetworkPoolConfig", metadata: { name, namespace }, spec: { ...spec } });
    },
    addPods(node: string, ...pods: readonly DrainedPod[]) {
      podsOn.set(node, [...(podsOn.get(node) ?? []), ...pods]);
    },
    /** Writes a request as the daemon does. */
    requestDrain(name: string, request: DrainRequest, type: ResourceType = sriovNetworkNodeStates) {
      cluster.annotate(type, name, { [annotations.desiredState]: request });
      cluster.annotate(nodeType, name, { [annotations.nodeState]: request });
    },
    /** Writes a request for VFs of a PF, as the daemon does. `holders` are the names of pods by the index of their VF. */
    requestDeviceDrain(
      name: string,
      holders: Readonly<Record<number, string>>,
      vfs = "0000:3b:00.0",
      report: { readonly uids?: Readonly<Record<number, string>> } = {},
    ) {
      cluster.reportHolders(name, holders, report);
      cluster.annotate(sriovNetworkNodeStates, name, { [annotations.drainVfs]: vfs });
      cluster.requestDrain(name, "Drain_Required");
    },
    /** Writes a report of the daemon about the PFs 0000:3b:00.0 and 0000:3b:00.1 with four VFs each. */
    reportHolders(name: string, holders: Readonly<Record<number, string>>, options: ReportOptions = {}) {
      const { since = "2026-11-20T11:00:00Z", isKnown = true, uids = {}, publishedVfs = 0 } = options;
      const vf = (vfID: number, index: number) => {
        const pod = holders[index];
        const vf = { vfID, pciAddress: `0000:3b:0${2 + (index >> 2)}.${vfID}`, name: `v${index}` };
        const via = "device-plugin" as const;
        const uid = defined({ uid: uids[index] });
        const holder = { namespace: "apps", name: pod ?? "", ...uid, via, resource: "openshift.io/fast", since };
        return pod === undefined ? vf : { ...vf, holder };
      };
      const pf = (at: number) =>
        nic({ pciAddress: `0000:3b:00.${at}`, numVfs: 4, Vfs: [0, 1, 2, 3].map((id) => vf(id, 4 * at + id)) });
      const known = isKnown ? { known: true } : { known: false, message: "the kubelet does not answer" };
      const status = { interfaces: [pf(0), pf(1)], holders: known, publishedVfs };
      api.put({ kind: "SriovNetworkNodeState", metadata: { name, namespace }, status });
    },
    annotate(type: ResourceType, name: string, notes: Readonly<Record<string, string>>) {
      const place = type.namespaced ? { name, namespace } : { name };
      api.put({ kind: type.kind, metadata: { ...place, annotations: notes } });
    },
    cordon(name: string) {
      api.put({ kind: "Node", metadata: { name }, spec: { unschedulable: true } });
    },
    annotationOf,
    answerOf: (name: string, type: ResourceType = sriovNetworkNodeStates) =>
      annotationOf(type, name, annotations.currentState),
    /** Returns the names of the nodes that hold a slot. */
    slotHolders: (): readonly string[] =>
      stateTypes
        .flatMap((type) => api.list(type))
        .filter(({ metadata }) => (metadata.annotations?.[annotations.currentState] ?? "Idle") !== "Idle")
        .map(({ metadata }) => metadata.name),
    specOf(name: string): Readonly<Record<string, unknown>> {
      const spec = api.get(nodeType, { name })?.["spec"];
      return isRecord(spec) ? spec : {};
    },
    /** Returns "status reason: message" of a condition. */
    condition(name: string, type: string): string {
      const found = carriers.get(name)?.drain.conditions.find((condition: Condition) => condition.type === type);
      return found === undefined ? "" : `${found.status} ${found.reason}: ${found.message}`;
    },
    /** Events of node states. */
    events: (): readonly string[] =>
      news
        .filter(({ regarding }) => regarding.kind !== "Node")
        .map(({ type, reason, regarding }) => `${type} ${reason} ${regarding.metadata.name}`),
    /** Events of Nodes: reason and note. */
    nodeEvents: (): readonly string[] =>
      news.filter(({ regarding }) => regarding.kind === "Node").map(({ reason, note }) => `${reason}: ${note}`),
    advance(ms: number) {
      nowMs += ms;
    },
    /** Replaces the operator by a new one. */
    restart() {
      operator = startOperator();
    },
    assignSlots: () => operator.slots.reconcile(drainSlotsKey, stop.signal),
    async endPauses() {
      await operator.pauses?.reconcile(drainPausesKey, stop.signal);
    },
    /** Returns the condition of the SriovOperatorConfig about nodes in no pool. */
    async defaultPool(): Promise<string> {
      cluster.advance(2_000); // the status is written at most once a second
      await operator.defaultPool.reconcile("default", stop.signal);
      const conditions = operatorConfigs.get("default")?.status?.conditions ?? [];
      return conditions.map(({ type, status, message }) => `${type} ${status}: ${message}`).join();
    },
    reconcile: (node: string) => operator.drains.reconcile(node, stop.signal),
    /** Reconciles until no write follows. Rejects with the error of an operator. */
    async settle() {
      for (let writes = -1, rounds = 0; writes !== api.writes.length; rounds++) {
        if (rounds > 100) throw new Error("it never settles");
        writes = api.writes.length;
        await cluster.assignSlots();
        for (const name of new Set([...nodes.keys(), ...states.keys()])) await cluster.reconcile(name);
        await cluster.endPauses();
      }
    },
  };
  return cluster;
}

const stateTypes = [sriovNetworkNodeStates, afxdpNetworkNodeStates];

function emptyStore() {
  const type = { ...sriovNetworkPoolConfigs, kind: "SriovNetworkNodePolicy", plural: "sriovnetworknodepolicies" };
  return new ObjectStore<never, never>({ type, project: (policy) => policy });
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

function isOperation(value: unknown): value is Operation {
  return isRecord(value) && typeof value["op"] === "string" && typeof value["path"] === "string";
}

function valueAt(object: unknown, keys: readonly string[]): unknown {
  return keys.reduce((found, key) => (isRecord(found) ? found[key] : undefined), object);
}
