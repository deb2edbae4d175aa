// SPDX-License-Identifier: Apache-2.0
/**
 * createCluster returns a small cluster in memory for tests of reconcilers: stores that the test fills, and writers
 * that record.
 */
import {
  apiVersion,
  nodes as nodeType,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type InterfaceStatus,
  type Node,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodePolicySpec,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
  type SriovNetworkPoolConfigSpec,
  type SriovOperatorConfig,
  type SriovOperatorConfigSpec,
} from "@switchyard/api";
import {
  ObjectStore,
  type ApplyOptions,
  type KubeObject,
  type ManagedFieldsEntry,
  type Writer,
} from "@switchyard/kube";
import { afxdpStores } from "../facts/afxdp-caches.ts";
import { createLiveRules } from "../facts/live-rules.ts";
import type { ConfigMap } from "../facts/config-map-watches.ts";
import { createNicListStore } from "../facts/nic-list.ts";
import { toCachedNodeState, type CachedNodeState } from "../facts/cached-node-state.ts";
import { createMergeResults } from "../results/merge-results.ts";

const namespace = "sriov-network-operator";

/** Returns a PF as the daemon reports it. */
export function nic(overrides: Partial<InterfaceStatus> = {}): InterfaceStatus {
  return {
    pciAddress: "0000:3b:00.0",
    name: "ens1f0",
    vendor: "8086",
    deviceID: "158b",
    mtu: 1500,
    linkType: "ETH",
    linkAdminState: "up",
    totalvfs: 8,
    numVfs: 0,
    ...overrides,
  };
}

export function createCluster() {
  let version = 0;
  const nodes = new ObjectStore({ type: nodeType, project: (node: Node) => node });
  const policies = new ObjectStore({
    type: sriovNetworkNodePolicies,
    namespace,
    project: (policy: SriovNetworkNodePolicy) => policy,
  });
  const pools = new ObjectStore({
    type: sriovNetworkPoolConfigs,
    namespace,
    project: (pool: SriovNetworkPoolConfig) => pool,
  });
  const operatorConfigs = new ObjectStore({
    type: sriovOperatorConfigs,
    namespace,
    project: (config: SriovOperatorConfig) => config,
  });
  const states = new ObjectStore<SriovNetworkNodeState, CachedNodeState>({
    type: sriovNetworkNodeStates,
    namespace,
    project: toCachedNodeState,
  });
  const afxdpStates = new ObjectStore({ ...afxdpStores.afxdpStates, namespace });
  const nicList = createNicListStore(namespace);
  for (const store of [nodes, policies, pools, operatorConfigs, states, afxdpStates, nicList]) {
    store.beginList();
    store.endList("0");
  }
  const meta = (name: string) => ({
    name,
    namespace,
    uid: `uid-${name}`,
    generation: 1,
    resourceVersion: `${++version}`,
  });
  const stop = new AbortController();
  const rules = createLiveRules(
    {
      policies,
      pools,
      operatorConfigs,
      nicList,
      deviceClasses: { synced: true, served: true },
      staleDelayMs: 60_000,
      devMode: false,
    },
    stop.signal,
  );

  return {
    nodes,
    afxdpStates,
    policies,
    pools,
    operatorConfigs,
    states,
    rules,
    mergeResults: createMergeResults(),
    addConfig(spec: SriovOperatorConfigSpec = {}): void {
      const config: SriovOperatorConfig = { apiVersion, kind: "SriovOperatorConfig", metadata: meta("default"), spec };
      operatorConfigs.upsert(config);
    },
    addNode(
      name: string,
      labels: Readonly<Record<string, string>> = {},
      annotations: Readonly<Record<string, string>> = {},
    ): void {
      const all = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "", ...labels };
      nodes.upsert({
        apiVersion: "v1",
        kind: "Node",
        metadata: { name, labels: all, annotations, resourceVersion: `${++version}` },
      });
    },
    removeNode(name: string): void {
      nodes.remove({ name });
    },
    addPolicy(name: string, spec: Partial<SriovNetworkNodePolicySpec> = {}): void {
      const whole = {
        resourceName: name,
        nodeSelector: { "node-role.kubernetes.io/worker": "" },
        numVfs: 2,
        nicSelector: { pfNames: ["ens1f0"] },
        ...spec,
      };
      const policy: SriovNetworkNodePolicy = {
        apiVersion,
        kind: "SriovNetworkNodePolicy",
        metadata: meta(name),
        spec: whole,
      };
      policies.upsert(policy);
    },
    removePolicy(name: string): void {
      policies.remove({ name, namespace });
    },
    addPool(name: string, spec: SriovNetworkPoolConfigSpec): void {
      const pool: SriovNetworkPoolConfig = {
        apiVersion,
        kind: "SriovNetworkPoolConfig",
        metadata: { ...meta(name), creationTimestamp: "2026-01-01T00:00:00Z" },
        spec,
      };
      pools.upsert(pool);
    },
    /** Sets the rows of the ConfigMap supported-nic-ids. */
    setNicList(rows: readonly string[]): void {
      const data = Object.fromEntries(rows.map((row, index) => [`row${index}`, row]));
      const configMap: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: meta("supported-nic-ids"), data };
      nicList.upsert(configMap);
    },
    setState(
      name: string,
      state: Pick<SriovNetworkNodeState, "spec" | "status"> = {},
      annotations = {},
      managedFields: readonly ManagedFieldsEntry[] = [],
    ): void {
      const whole: SriovNetworkNodeState = {
        apiVersion,
        kind: "SriovNetworkNodeState",
        metadata: { ...meta(name), annotations },
        ...state,
      };
      states.upsert({ ...whole, metadata: { ...whole.metadata, managedFields } });
    },
  };
}

/** Returns a writer that records the last intent for each name. */
export function createKeepingWriter<T extends KubeObject>() {
  const applied = new Map<string, Parameters<Writer<T>["apply"]>[0]>();
  const statuses = new Map<string, Parameters<Writer<T>["applyStatus"]>[0]["status"]>();
  const deleted: string[] = [];
  const options = new Map<string, ApplyOptions | undefined>();
  const writer: Writer<T> = {
    apply(intent, _signal, how) {
      applied.set(intent.metadata.name, intent);
      options.set(intent.metadata.name, how);
      return Promise.resolve("written");
    },
    applyStatus({ metadata, status }) {
      statuses.set(metadata.name, status);
      return Promise.resolve("written");
    },
    delete({ metadata }) {
      deleted.push(metadata.name);
      return Promise.resolve();
    },
    showsStatus: () => true,
    shows: () => true,
    interference: () => undefined,
    statusInterference: () => undefined,
  };
  return { writer, applied, options, statuses, deleted };
}
