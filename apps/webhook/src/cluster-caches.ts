// SPDX-License-Identifier: Apache-2.0
/**
 * ClusterCaches holds the parts of the cluster that admission needs, so that no review waits for the API server.
 */
import { createStateReader, type AfxdpNodeReport, type ReducedNodeState } from "@switchyard/admission";
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  configMaps,
  defined,
  machineConfigPools,
  nodes,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
  type MachineConfigPool,
  type Node,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { watchObjects, type Cache, type FailedWatch, type KubeObject, type Transport } from "@switchyard/kube";

/** The used fields of a ConfigMap. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface ClusterCaches extends AsyncDisposable {
  readonly nodes: Cache<NodeLabels>;
  /** The kinds for SR-IOV are optional. */
  readonly states: Cache<ReducedNodeState>;
  readonly policies: Cache<SriovNetworkNodePolicy>;
  readonly pools: Cache<SriovNetworkPoolConfig>;
  readonly operatorConfigs: Cache<SriovOperatorConfig>;
  /** The kinds for AF_XDP are optional. */
  readonly afxdpPolicies: Cache<AfxdpNetworkNodePolicy>;
  readonly afxdpConfigs: Cache<AfxdpOperatorConfig>;
  readonly afxdpStates: Cache<CachedAfxdpReport>;
  /** Only on OpenShift. Reviews do not wait for it. */
  readonly machineConfigPools?: Cache<MachineConfigPool>;
  /** Rows of the ConfigMap that lists additional NICs. */
  readonly nicLists: Cache<readonly string[]>;
}

export interface NodeLabels {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The devices that a node reports for AF_XDP. */
export interface CachedAfxdpReport {
  readonly name: string;
  readonly status: AfxdpNodeReport;
}

export interface ClusterCachesOptions {
  readonly transport: Transport;
  /** The namespace of the operator. Policies, pools and the configuration are watched only there. */
  readonly namespace: string;
  /** Whether the cluster is an OpenShift cluster. */
  readonly hasMachineConfigPools: boolean;
  /** Called for each failure of a watch. The watch is retried. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

/** The ConfigMap that lists additional NICs (sriov-operator.md J). */
const nicListName = "supported-nic-ids";

export function watchCluster({
  transport,
  namespace,
  hasMachineConfigPools,
  report,
}: ClusterCachesOptions): ClusterCaches {
  const common = { transport, report };
  const readState = createStateReader();
  const caches = {
    nodes: watchObjects({
      ...common,
      type: nodes,
      pageSize: 100, // a Node has kilobytes of images, which are dropped at once
      project: ({ metadata: { name, labels = {} } }: Node): NodeLabels => ({ name, labels }),
    }),
    // States with 256 VFs are large, and a page of them is in memory as a whole.
    states: watchObjects({
      ...common,
      type: sriovNetworkNodeStates,
      namespace,
      optional: true,
      pageSize: 10,
      project: (state: SriovNetworkNodeState) => readState(state),
    }),
    policies: watchObjects({
      ...common,
      type: sriovNetworkNodePolicies,
      namespace,
      optional: true,
      project: ({ status: _, ...policy }: SriovNetworkNodePolicy): SriovNetworkNodePolicy => ({
        ...policy,
        metadata: keepIdentity(policy),
      }),
    }),
    pools: watchObjects({
      ...common,
      type: sriovNetworkPoolConfigs,
      namespace,
      optional: true,
      project: ({ status: _, ...pool }: SriovNetworkPoolConfig): SriovNetworkPoolConfig => ({
        ...pool,
        metadata: keepIdentity(pool),
      }),
    }),
    operatorConfigs: watchObjects({
      ...common,
      type: sriovOperatorConfigs,
      namespace,
      optional: true,
      fieldSelector: `metadata.name=${operatorConfigName}`, // the webhook is not authorized to read others
      project: ({ status: _, ...config }: SriovOperatorConfig): SriovOperatorConfig => ({
        ...config,
        metadata: keepIdentity(config),
      }),
    }),
    afxdpPolicies: watchObjects({
      ...common,
      type: afxdpNetworkNodePolicies,
      namespace,
      optional: true,
      project: ({ status: _, ...policy }: AfxdpNetworkNodePolicy): AfxdpNetworkNodePolicy => ({
        ...policy,
        metadata: keepIdentity(policy),
      }),
    }),
    afxdpConfigs: watchObjects({
      ...common,
      type: afxdpOperatorConfigs,
      namespace,
      optional: true,
      project: ({ status: _, ...config }: AfxdpOperatorConfig): AfxdpOperatorConfig => ({
        ...config,
        metadata: keepIdentity(config),
      }),
    }),
    afxdpStates: watchObjects({
      ...common,
      type: afxdpNetworkNodeStates,
      namespace,
      optional: true,
      pageSize: 50,
      project: toCachedAfxdpReport,
    }),
    nicLists: watchObjects({
      ...common,
      type: configMaps,
      namespace,
      fieldSelector: `metadata.name=${nicListName}`,
      project: ({ data = {} }: ConfigMap): readonly string[] => Object.values(data),
    }),
  };
  const openshift = hasMachineConfigPools ? { machineConfigPools: watchPools(common) } : {};
  const all = { ...caches, ...openshift };
  return {
    ...all,
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(all).map((cache) => cache[Symbol.asyncDispose]()));
    },
  };
}

/** Hosted control planes lack the kind. */
function watchPools(common: Pick<ClusterCachesOptions, "transport" | "report">) {
  return watchObjects({
    ...common,
    type: machineConfigPools,
    optional: true,
    project: ({ apiVersion, kind, metadata, spec = {} }: MachineConfigPool): MachineConfigPool => {
      const { machineConfigSelector, nodeSelector } = spec;
      const selectors = defined({ machineConfigSelector, nodeSelector });
      return { apiVersion, kind, metadata: keepIdentity({ metadata }), spec: selectors };
    },
  });
}

function toCachedAfxdpReport({
  metadata: { name },
  spec = {},
  status: { interfaces = [] } = {},
}: AfxdpNetworkNodeState): CachedAfxdpReport {
  const assigned = spec.interfaces?.map(({ pciAddress, name: device, mode, poolName, policyName }) => {
    return { ...defined({ pciAddress, name: device, policyName }), mode, poolName };
  });
  return {
    name,
    status: {
      interfaces: interfaces.map(({ subfunctions: _, ...device }) => device),
      ...(assigned && { assigned: { interfaces: assigned } }),
    },
  };
}

function keepIdentity({ metadata }: Pick<SriovNetworkNodePolicy, "metadata">): SriovNetworkNodePolicy["metadata"] {
  const { name, namespace, uid, creationTimestamp } = metadata;
  return { name, ...defined({ namespace, uid, creationTimestamp }) };
}
