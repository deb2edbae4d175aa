// SPDX-License-Identifier: Apache-2.0
/**
 * ClusterCaches are the caches of all objects that the operator watches, reduced to the fields that it uses. Standby
 * replicas have them, too, so that they can take over at once. The kinds for SR-IOV are as optional as those for AF_XDP: a kind
 * that the API server does not serve has no objects. A kind that it refuses to list is unknown, and its cache is not synced.
 */
import {
  annotations,
  defined,
  deviceClasses,
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type DeviceClass,
  type Node,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import {
  createServedGroups,
  sharingEqual,
  watchObjects,
  type Cache,
  type FailedWatch,
  type Transport,
} from "@switchyard/kube";
import { watchAfxdp, type AfxdpCaches } from "./facts/afxdp-caches.ts";
import { watchBpfman, type BpfmanCaches } from "./afxdp/bpfman/bpfman-caches.ts";
import {
  certifiedServers,
  watchServerCertificates,
  type WatchedServerCertificates,
} from "./facts/certified-servers.ts";
import { watchClusterSettings, type WatchedClusterSettings } from "./facts/cluster-settings.ts";
import { watchComponentObjects, type WatchedComponentObjects } from "./components/component-objects.ts";
import { isReportedByUpstream, type CachedOperatorConfig } from "./facts/config-take-over.ts";
import { watchConfigMaps, type WatchedConfigMaps } from "./facts/config-map-watches.ts";
import { fieldManagers } from "./field-managers.ts";
import { watchNetworks, type NetworkCaches } from "./facts/network-caches.ts";
import { watchNicList, type NicList } from "./facts/nic-list.ts";
import { keepConfirmation } from "./facts/reset-confirmation.ts";
import { toCachedNodeState, type CachedNodeState } from "./facts/cached-node-state.ts";
import type { OperatorSettings } from "./start/operator-settings.ts";

/** Disposing it ends the watches and keeps the cached objects. */
export interface ClusterCaches extends NetworkCaches, AfxdpCaches, BpfmanCaches, AsyncDisposable {
  readonly nodes: Cache<Node>;
  readonly policies: Cache<SriovNetworkNodePolicy>;
  readonly pools: Cache<SriovNetworkPoolConfig>;
  readonly operatorConfigs: Cache<CachedOperatorConfig>;
  readonly states: Cache<CachedNodeState>;
  readonly nicList: NicList;
  /** Not served before Kubernetes 1.34. */
  readonly deviceClasses: Cache<DeviceClass>;
  /** The objects that the operator may have deployed. */
  readonly componentObjects: WatchedComponentObjects;
  readonly clusterSettings: WatchedClusterSettings;
  readonly configMaps: WatchedConfigMaps;
  readonly certificates: WatchedServerCertificates;
}

export interface ClusterCachesOptions {
  /** For the objects that node states depend on. */
  readonly transport: Transport;
  /** For all other objects (start/deferred-transport.ts). */
  readonly deferred: Transport;
  /**
   * Namespace of the operator, the only one in which its SriovOperatorConfig, policies, pools and node states count.
   */
  readonly namespace: string;
  readonly settings: OperatorSettings;
  /** Called for each failure of a watch, which is then retried. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

export function watchCluster({
  transport,
  deferred,
  namespace,
  settings,
  report,
}: ClusterCachesOptions): ClusterCaches {
  const groups = createServedGroups(transport);
  const common = { transport, groups, report };
  const others = { transport: deferred, groups, report };
  const caches = {
    nodes: watchObjects({ ...common, type: nodes, pageSize: 200, project: sharingEqual(toCachedNode) }),
    policies: watchObjects({
      ...common,
      type: sriovNetworkNodePolicies,
      namespace,
      optional: true,
      project: (policy: SriovNetworkNodePolicy) => ({ ...policy, metadata: keepIdentity(policy) }),
      managers: [fieldManagers.policyStatus, fieldManagers.failures],
    }),
    pools: watchObjects({
      ...common,
      type: sriovNetworkPoolConfigs,
      namespace,
      optional: true,
      project: (pool: SriovNetworkPoolConfig) => ({ ...pool, metadata: keepLifeCycle(pool) }),
      managers: [fieldManagers.poolStatus, fieldManagers.hardwareOffload, fieldManagers.failures],
    }),
    operatorConfigs: watchObjects({
      ...common,
      type: sriovOperatorConfigs,
      namespace,
      optional: true,
      project: (config: SriovOperatorConfig): CachedOperatorConfig => ({
        ...config,
        metadata: { ...keepLifeCycle(config), ...keepConfirmation(config.metadata) },
        isReportedByUpstream: isReportedByUpstream(config),
      }),
      managers: [
        fieldManagers.operatorConfigStatus,
        fieldManagers.devicePluginConfigMap,
        fieldManagers.defaultPoolStatus,
        fieldManagers.resetHeld,
        fieldManagers.failures,
        ...certifiedServers.map(({ manager }) => manager),
      ],
    }),
    // A page is completely in memory, and a state with 256 VFs is large.
    states: watchObjects({
      ...common,
      type: sriovNetworkNodeStates,
      namespace,
      optional: true,
      pageSize: 50,
      project: sharingEqual((state: SriovNetworkNodeState) => toCachedNodeState(state)),
      managers: [fieldManagers.nodeState, fieldManagers.drain, fieldManagers.failures],
    }),
    nicList: watchNicList({ ...common, namespace }),
    // Not deferred: where the kind is not served, no node state may ask for claims.
    deviceClasses: watchObjects({
      ...common,
      type: deviceClasses,
      optional: true,
      project: ({ metadata: { name, labels = {} }, ...rest }: DeviceClass): DeviceClass => ({
        ...rest,
        metadata: { name, labels },
      }),
      managers: [fieldManagers.deviceClasses],
    }),
    ...watchNetworks(others),
    ...watchAfxdp({ ...others, namespace }),
    ...watchBpfman(others),
    componentObjects: watchComponentObjects({ ...others, settings: settings.components }),
    clusterSettings: watchClusterSettings({ ...others, settings: settings.components }),
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

/**
 * Keeps labels, the taints that keep components away, and the fields that drains read and write. So the kubelet's heartbeats
 * cause no events.
 */
function toCachedNode({ metadata: { name, labels = {}, annotations: all = {} }, spec = {} }: Node): Node {
  const notes = Object.entries(all).filter(([key]) => usedNodeAnnotations.has(key));
  // Those of Kubernetes itself come and go with the state of the node, and components tolerate them or wait.
  const keptTaints = spec.taints?.filter(({ key }) => !key.startsWith("node.kubernetes.io/")) ?? [];
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels, ...(notes.length === 0 ? {} : { annotations: Object.fromEntries(notes) }) },
    spec: {
      ...(spec.unschedulable === true ? { unschedulable: true } : {}),
      ...(keptTaints.length === 0 ? {} : { taints: keptTaints }),
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
  return { name, ...defined({ namespace, uid, generation, creationTimestamp }) };
}

/** Keeps also the fields that concern deletion. */
function keepLifeCycle(object: Pick<SriovOperatorConfig, "metadata">): SriovOperatorConfig["metadata"] {
  const { resourceVersion, deletionTimestamp, finalizers } = object.metadata;
  return { ...keepIdentity(object), ...defined({ resourceVersion, deletionTimestamp, finalizers }) };
}
