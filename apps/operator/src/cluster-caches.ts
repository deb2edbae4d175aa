// SPDX-License-Identifier: Apache-2.0
/**
 * What the operator watches, and what it keeps of it. Standby replicas have it too, so that they can take over at once.
 * Usage: `await using caches = watchCluster({ transport, later, namespace, settings, report });`
 */
import {
  annotations,
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  taints,
  type Node,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { sharingEqual, watchObjects, type Cache, type FailedWatch, type Transport } from "@switchyard/kube";
import { certifiedServers } from "./certificates/certified-servers.ts";
import { watchServerCertificates, type WatchedServerCertificates } from "./certificates/server-certificate-watches.ts";
import { watchClusterFacts, type WatchedClusterFacts } from "./components/cluster-facts.ts";
import { watchComponentObjects, type WatchedComponentObjects } from "./components/component-objects.ts";
import { watchConfigMaps, type WatchedConfigMaps } from "./device-plugin/config-map-watches.ts";
import { fieldManagers } from "./field-managers.ts";
import { watchNetworks, type NetworkCaches } from "./networks/network-caches.ts";
import { watchNicList, type NicList } from "./node-states/nic-list.ts";
import { toNodeStateFacts, type NodeStateFacts } from "./node-states/node-state-facts.ts";
import type { OperatorSettings } from "./start/operator-settings.ts";

/** Disposing it ends the watches and leaves what was known. */
export interface ClusterCaches extends NetworkCaches, AsyncDisposable {
  readonly nodes: Cache<Node>;
  readonly policies: Cache<SriovNetworkNodePolicy>;
  readonly pools: Cache<SriovNetworkPoolConfig>;
  readonly operatorConfigs: Cache<SriovOperatorConfig>;
  readonly states: Cache<NodeStateFacts>;
  readonly nicList: NicList;
  /** What we may have deployed. */
  readonly componentObjects: WatchedComponentObjects;
  readonly clusterFacts: WatchedClusterFacts;
  readonly configMaps: WatchedConfigMaps;
  readonly certificates: WatchedServerCertificates;
}

export interface WatchOptions {
  /** For what node states are made of. */
  readonly transport: Transport;
  /** For all else (deferred-transport.ts). */
  readonly later: Transport;
  /** Our own kinds are honoured in this one only. */
  readonly namespace: string;
  readonly settings: OperatorSettings;
  /** Told each failure of a watch; it is taken up again. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

export function watchCluster({ transport, later, namespace, settings, report }: WatchOptions): ClusterCaches {
  const common = { transport, report };
  const others = { transport: later, report };
  const caches = {
    nodes: watchObjects({ ...common, type: nodes, pageSize: 200, project: sharingEqual(keepNodeFacts) }),
    policies: watchObjects({
      ...common,
      type: sriovNetworkNodePolicies,
      namespace,
      project: (policy: SriovNetworkNodePolicy) => ({ ...policy, metadata: keepIdentity(policy) }),
      managers: [fieldManagers.policyStatus, fieldManagers.failures],
    }),
    pools: watchObjects({
      ...common,
      type: sriovNetworkPoolConfigs,
      namespace,
      project: (pool: SriovNetworkPoolConfig) => ({ ...pool, metadata: keepLife(pool) }),
      managers: [fieldManagers.poolStatus, fieldManagers.hardwareOffload, fieldManagers.failures],
    }),
    operatorConfigs: watchObjects({
      ...common,
      type: sriovOperatorConfigs,
      namespace,
      project: (config: SriovOperatorConfig) => ({ ...config, metadata: keepLife(config) }),
      managers: [
        ...[
          fieldManagers.operatorConfigStatus,
          fieldManagers.devicePluginConfigMap,
          fieldManagers.defaultPoolStatus,
          fieldManagers.failures,
        ],
        ...certifiedServers.map(({ manager }) => manager),
      ],
    }),
    // A page of states with 256 VFs each is large, and in memory whole.
    states: watchObjects({
      ...common,
      type: sriovNetworkNodeStates,
      namespace,
      pageSize: 50,
      project: sharingEqual((state: SriovNetworkNodeState) => toNodeStateFacts(state)),
      managers: [fieldManagers.nodeState, fieldManagers.drain, fieldManagers.failures],
    }),
    nicList: watchNicList({ ...common, namespace }),
    ...watchNetworks(others),
    componentObjects: watchComponentObjects({ ...others, settings: settings.components }),
    clusterFacts: watchClusterFacts({ ...others, settings: settings.components }),
    configMaps: watchConfigMaps({ ...others, namespace, isWanted: settings.writeConfigMap }),
    certificates: watchServerCertificates({ ...others, settings: settings.components }),
  };
  return {
    ...caches,
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(caches).map((cache) => cache[Symbol.asyncDispose]()));
    },
  };
}

/** Labels, and what drains look at and leave; its kubelet's heartbeats do not show here and wake nobody. */
function keepNodeFacts({ metadata: { name, labels = {}, annotations: all = {} }, spec = {} }: Node): Node {
  const notes = Object.entries(all).filter(([key]) => usedNodeAnnotations.has(key));
  const drainTaints = spec.taints?.filter(({ key }) => key === taints.draining) ?? [];
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels, ...(notes.length === 0 ? {} : { annotations: Object.fromEntries(notes) }) },
    spec: {
      ...(spec.unschedulable === true ? { unschedulable: true } : {}),
      ...(drainTaints.length === 0 ? {} : { taints: drainTaints }),
    },
  };
}

const usedNodeAnnotations: ReadonlySet<string> = new Set([
  annotations.nodeState,
  annotations.cordonedBy,
  annotations.desiredMachineConfig,
]);

function keepIdentity({ metadata }: Pick<SriovNetworkNodePolicy, "metadata">): SriovNetworkNodePolicy["metadata"] {
  const { name, namespace, uid, generation, creationTimestamp } = metadata;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(generation === undefined ? {} : { generation }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
  };
}

/** With what is to be done before it can go. */
function keepLife(object: Pick<SriovOperatorConfig, "metadata">): SriovOperatorConfig["metadata"] {
  const { resourceVersion, deletionTimestamp, finalizers } = object.metadata;
  return {
    ...keepIdentity(object),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
}
