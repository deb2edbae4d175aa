// SPDX-License-Identifier: Apache-2.0
/** OffloadCaches are the caches of all objects that ovn-offload reads, reduced to the fields in use. */
import {
  clusterVersions,
  configMaps,
  defined,
  dnses,
  labels,
  machineConfigPools,
  machineConfigs,
  namespaces,
  networkAttachmentDefinitions,
  nodes,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type MachineConfigPool,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovOperatorConfig,
} from "@switchyard/api";
import {
  isRecord,
  sharingEqual,
  watchObjects,
  type FailedWatch,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";
import { isOfOvnOffload, ovnOffloadSelector, presentOffloadNetwork, type DnsPlacementSource } from "@switchyard/render";
import type { NodeReport, ObservedDns } from "../decide/observed.ts";
import { fieldManagers } from "../field-managers.ts";
import { toNodeReport, toObservedNode } from "./observed-node.ts";

export interface OffloadCachesOptions {
  readonly transport: Transport;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** Namespace of OVN-Kubernetes in clusters without MachineConfigPools. */
  readonly ovnNamespace: string;
  /** Namespace of the NetworkAttachmentDefinitions for pods. */
  readonly networkNamespace: string;
  /** Called for each failure of a watch, which is then retried. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

/** Disposing it ends the watches and keeps the cached objects. */
export type OffloadCaches = ReturnType<typeof watchOffload>;

/** What ovn-offload reads of a ConfigMap. */
export interface CachedConfigMap {
  readonly metadata: { readonly resourceVersion: string };
  readonly data: Readonly<Record<string, string>>;
  readonly isOwn: boolean;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Namespaces of OpenShift. */
export const openshiftNamespaces = { ovn: "openshift-ovn-kubernetes", networkOperator: "openshift-network-operator" };

export function watchOffload(options: OffloadCachesOptions) {
  const { transport, namespace, ovnNamespace, networkNamespace, report } = options;
  const common = { transport, report };
  const watchMap = (at: string, name: string) =>
    watchObjects({
      ...common,
      type: configMaps,
      namespace: at,
      fieldSelector: `metadata.name=${name}`,
      project: sharingEqual(toCachedConfigMap),
    });
  const watchNamespace = (name: string) =>
    watchObjects({
      ...common,
      type: namespaces,
      fieldSelector: `metadata.name=${name}`,
      project: sharingEqual(({ metadata }: KubeObject) => ({ name: metadata.name })),
    });
  const caches = {
    nodes: watchObjects({
      ...common,
      type: nodes,
      pageSize: 20,
      managers: [fieldManagers.objects],
      project: sharingEqual(toObservedNode),
    }),
    states: watchObjects({
      ...common,
      type: sriovNetworkNodeStates,
      namespace,
      pageSize: 20,
      project: sharingEqual((state: SriovNetworkNodeState): NodeReport => toNodeReport(state)),
    }),
    operatorConfigs: watchObjects({
      ...common,
      type: sriovOperatorConfigs,
      namespace,
      managers: [fieldManagers.status],
      fieldSelector: `metadata.name=${operatorConfigName}`,
      project: (config: SriovOperatorConfig) => config,
    }),
    policies: watchObjects({
      ...common,
      type: sriovNetworkNodePolicies,
      namespace,
      managers: [fieldManagers.objects],
      project: sharingEqual(({ apiVersion, kind, metadata, spec }: SriovNetworkNodePolicy): SriovNetworkNodePolicy => {
        const { name, uid, labels: own = {} } = metadata;
        return { apiVersion, kind, metadata: { name, ...defined({ uid }), labels: own }, spec };
      }),
    }),
    machineConfigPools: watchObjects({
      ...common,
      type: machineConfigPools,
      optional: true,
      project: sharingEqual(toCachedPool),
    }),
    machineConfigs: watchObjects({
      ...common,
      type: machineConfigs,
      optional: true,
      labelSelector: ovnOffloadSelector,
      managers: [fieldManagers.objects],
      project: sharingEqual(({ metadata }: KubeObject) => ({
        name: metadata.name,
        uid: metadata.uid ?? "",
        pool: metadata.labels?.[labels.ovnOffloadPool] ?? "",
      })),
    }),
    dns: watchObjects({
      ...common,
      type: dnses,
      optional: true,
      fieldSelector: "metadata.name=default",
      project: sharingEqual(toObservedDns),
    }),
    clusterVersions: watchObjects({
      ...common,
      type: clusterVersions,
      optional: true,
      fieldSelector: "metadata.name=version",
      project: sharingEqual(toVersion),
    }),
    networks: watchObjects({
      ...common,
      type: networkAttachmentDefinitions,
      namespace: networkNamespace,
      optional: true,
      project: sharingEqual((network: KubeObject) => presentOffloadNetwork(network)),
    }),
    managementPorts: watchMap(openshiftNamespaces.ovn, "ovn-management-ports"),
    plainManagementPorts: watchMap(ovnNamespace, "ovn-management-ports"),
    envOverrides: watchMap(openshiftNamespaces.ovn, "env-overrides"),
    hardwareOffload: watchMap(openshiftNamespaces.networkOperator, "hardware-offload-config"),
    ovnNamespace: watchNamespace(openshiftNamespaces.ovn),
    plainOvnNamespace: watchNamespace(ovnNamespace),
    networkOperatorNamespace: watchNamespace(openshiftNamespaces.networkOperator),
  };
  return {
    ...caches,
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(caches).map((cache) => cache[Symbol.asyncDispose]()));
    },
  };
}

function toCachedPool({ apiVersion, kind, metadata, spec, status }: MachineConfigPool): MachineConfigPool {
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name },
    ...(spec && { spec }),
    ...(status && { status: { ...status, conditions: (status.conditions ?? []).map(withoutText) } }),
  };
}

/** The text names every node and changes often. */
function withoutText<C extends { readonly message: string; readonly lastTransitionTime: string }>(condition: C): C {
  return { ...condition, message: "", lastTransitionTime: "" };
}

function toCachedConfigMap(map: KubeObject): CachedConfigMap {
  const data = "data" in map && isRecord(map.data) ? map.data : {};
  return {
    metadata: { resourceVersion: map.metadata.resourceVersion ?? "" },
    data: Object.fromEntries(
      Object.entries(data).flatMap(([key, value]) => (typeof value === "string" ? [[key, value] as const] : [])),
    ),
    isOwn: isOfOvnOffload(map),
    annotations: map.metadata.annotations ?? {},
  };
}

function toObservedDns({ metadata, spec }: KubeObject & DnsPlacementSource): ObservedDns {
  const { managementState, nodePlacement } = spec ?? {};
  return {
    metadata: { annotations: metadata.annotations ?? {}, resourceVersion: metadata.resourceVersion ?? "" },
    spec: { ...(managementState && { managementState }), ...(nodePlacement && { nodePlacement }) },
  };
}

function toVersion(version: KubeObject): { readonly version: string | undefined } {
  const status = "status" in version && isRecord(version.status) ? version.status : {};
  const desired = isRecord(status["desired"]) ? status["desired"]["version"] : undefined;
  return { version: typeof desired === "string" ? desired : undefined };
}
