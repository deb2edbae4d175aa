// SPDX-License-Identifier: Apache-2.0
/**
 * ClusterCaches holds the parts of the cluster that admission needs, so that no review waits for the API server.
 * Usage: `await using caches = watchCluster({ transport, namespace, report });`
 */
import { createStateReader, type StateFacts } from "@switchyard/admission";
import {
  defined,
  nodes,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  sriovOperatorConfigs,
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
  readonly states: Cache<StateFacts>;
  readonly policies: Cache<SriovNetworkNodePolicy>;
  readonly pools: Cache<SriovNetworkPoolConfig>;
  readonly operatorConfigs: Cache<SriovOperatorConfig>;
  /** Rows of the ConfigMap that lists additional NICs. */
  readonly nicLists: Cache<readonly string[]>;
}

export interface NodeLabels {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface WatchOptions {
  readonly transport: Transport;
  /** The namespace of the operator. Policies, pools and the configuration are watched only there. */
  readonly namespace: string;
  /** Called for each failure of a watch. The watch is retried. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

/** The ConfigMap that lists additional NICs (sriov-operator.md J). */
const nicListName = "supported-nic-ids";

const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true } as const;

export function watchCluster({ transport, namespace, report }: WatchOptions): ClusterCaches {
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
      pageSize: 10,
      project: (state: SriovNetworkNodeState) => readState(state),
    }),
    policies: watchObjects({
      ...common,
      type: sriovNetworkNodePolicies,
      namespace,
      project: ({ status: _, ...policy }: SriovNetworkNodePolicy): SriovNetworkNodePolicy => ({
        ...policy,
        metadata: keepIdentity(policy),
      }),
    }),
    pools: watchObjects({
      ...common,
      type: sriovNetworkPoolConfigs,
      namespace,
      project: ({ status: _, ...pool }: SriovNetworkPoolConfig): SriovNetworkPoolConfig => ({
        ...pool,
        metadata: keepIdentity(pool),
      }),
    }),
    operatorConfigs: watchObjects({
      ...common,
      type: sriovOperatorConfigs,
      namespace,
      fieldSelector: `metadata.name=${operatorConfigName}`, // the webhook is not authorized to read others
      project: ({ status: _, ...config }: SriovOperatorConfig): SriovOperatorConfig => ({
        ...config,
        metadata: keepIdentity(config),
      }),
    }),
    nicLists: watchObjects({
      ...common,
      type: configMaps,
      namespace,
      fieldSelector: `metadata.name=${nicListName}`,
      project: ({ data = {} }: ConfigMap): readonly string[] => Object.values(data),
    }),
  };
  return {
    ...caches,
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(caches).map((cache) => cache[Symbol.asyncDispose]()));
    },
  };
}

function keepIdentity({ metadata }: Pick<SriovNetworkNodePolicy, "metadata">): SriovNetworkNodePolicy["metadata"] {
  const { name, namespace, creationTimestamp } = metadata;
  return { name, ...defined({ namespace, creationTimestamp }) };
}
