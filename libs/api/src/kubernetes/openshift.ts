// SPDX-License-Identifier: Apache-2.0
/**
 * MachineConfigs and MachineConfigPools of OpenShift (smartnic.md 2.1), with the fields that Switchyard uses. The API server
 * checks little of them, so a reader must expect other types in `spec` and `status`.
 */
import type { Condition, LabelSelector, ObjectMeta, ResourceType } from "./metadata.ts";

export const machineConfigs = {
  group: "machineconfiguration.openshift.io",
  version: "v1",
  kind: "MachineConfig",
  plural: "machineconfigs",
  namespaced: false,
} as const satisfies ResourceType;

export const machineConfigPools = {
  ...machineConfigs,
  kind: "MachineConfigPool",
  plural: "machineconfigpools",
} as const satisfies ResourceType;

/** A set of nodes that get the same MachineConfigs. */
export interface MachineConfigPool {
  readonly apiVersion: "machineconfiguration.openshift.io/v1";
  readonly kind: "MachineConfigPool";
  readonly metadata: ObjectMeta;
  readonly spec?: MachineConfigPoolSpec;
  readonly status?: MachineConfigPoolStatus;
}

export interface MachineConfigPoolSpec {
  /** Selects the MachineConfigs of the pool by their labels. */
  readonly machineConfigSelector?: LabelSelector;
  /** Selects the nodes of the pool. */
  readonly nodeSelector?: LabelSelector;
  /** Whether changes of MachineConfigs are held back. */
  readonly paused?: boolean;
  /** The merged MachineConfig that the nodes shall have. */
  readonly configuration?: RenderedConfiguration;
}

export interface MachineConfigPoolStatus {
  readonly observedGeneration?: number;
  /** The merged MachineConfig that all nodes have. */
  readonly configuration?: RenderedConfiguration;
  readonly machineCount?: number;
  readonly updatedMachineCount?: number;
  readonly degradedMachineCount?: number;
  /** Updated, Updating, Degraded, NodeDegraded, RenderDegraded. */
  readonly conditions?: readonly Condition[];
}

/** A merged MachineConfig, "rendered-POOL-HASH". */
export interface RenderedConfiguration {
  readonly name?: string;
  /** The MachineConfigs that it was merged from. */
  readonly source?: readonly { readonly name?: string }[];
}

/**
 * API resources of OpenShift's own configuration: the placement of DNS, and the version of the cluster.
 * DNS of group operator.openshift.io; the only one is named "default".
 */
export const dnses = {
  group: "operator.openshift.io",
  version: "v1",
  kind: "DNS",
  plural: "dnses",
  namespaced: false,
} as const satisfies ResourceType;

/** The only ClusterVersion is named "version". */
export const clusterVersions = {
  group: "config.openshift.io",
  version: "v1",
  kind: "ClusterVersion",
  plural: "clusterversions",
  namespaced: false,
} as const satisfies ResourceType;
