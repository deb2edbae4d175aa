// SPDX-License-Identifier: Apache-2.0
/**
 * ObservedCluster is everything in the cluster that the decisions of ovn-offload depend on, reduced to the fields in use. Its parts
 * come from caches that are complete and fresh.
 */
import type {
  HostNetworkStatus,
  InterfaceStatus,
  MachineConfigPool,
  Node,
  OvnHardwareOffload,
  SriovNetworkNodePolicy,
  Taint,
} from "@switchyard/api";
import type {
  DnsPatch,
  DnsPlacementSource,
  MachineConfigManifest,
  OffloadNetworkName,
  OffloadNetworkWrite,
  OffloadPolicy,
  PresentOffloadNetwork,
} from "@switchyard/render";
import type { WaitingPods } from "../pods/waiting-pods.ts";

export interface ObservedCluster {
  /** SriovOperatorConfig.spec.ovnHardwareOffload, or why it is not known: then it selects nothing, and deselects nothing. */
  readonly entries: readonly OvnHardwareOffload[] | UnknownEntries;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** Prefix of resource names: "openshift.io". */
  readonly resourcePrefix: string;
  /** Undefined if the cluster does not have this kind. */
  readonly machineConfigPools: readonly MachineConfigPool[] | undefined;
  /** The MachineConfigs with the label of ovn-offload. */
  readonly machineConfigs: readonly OwnObject[];
  /** Names of MachineConfigs that other programs have created under names of ovn-offload. */
  readonly foreignMachineConfigs: ReadonlySet<string>;
  /** All policies of the operator's namespace. */
  readonly policies: readonly SriovNetworkNodePolicy[];
  /** Policies of ovn-offload that somebody else has deleted, as they were. */
  readonly lostPolicies: readonly SriovNetworkNodePolicy[];
  readonly nodes: readonly ObservedNode[];
  /** Undefined if the node has no SriovNetworkNodeState, or its daemon has not reported yet. */
  readonly reportOf: (node: string) => NodeReport | undefined;
  /** The pods of a host that cannot start; undefined if that is not known. */
  readonly waitingPodsOf: (node: string) => WaitingPods | undefined;
  readonly configMaps: Readonly<Record<ConfigMapRole, ObservedConfigMap>>;
  readonly networks: ObservedNetworks;
  /** DNS "default" of OpenShift; undefined if it does not exist. */
  readonly dns: ObservedDns | undefined;
  /** Version of OpenShift, such as "4.14.3"; undefined if it is not known. */
  readonly openshiftVersion: string | undefined;
}

/** "deleting": the SriovOperatorConfig has a deletionTimestamp, so it may be replaced by another one. */
export type UnknownEntries = "missing" | "deleting";

/** The DNS "default", which administrators also change. */
export interface ObservedDns extends DnsPlacementSource {
  readonly metadata: DnsPlacementSource["metadata"] & { readonly resourceVersion: string };
}

/** The NetworkAttachmentDefinitions of the namespace in which ovn-offload writes its own. */
export interface ObservedNetworks {
  readonly at: OffloadNetworkName;
  /** Undefined if the cluster does not have this kind. */
  readonly present: readonly PresentOffloadNetwork[] | undefined;
}

/** An object of ovn-offload. */
export interface OwnObject {
  readonly name: string;
  readonly uid: string;
  /** The pool for which ovn-offload created it. */
  readonly pool: string;
}

/** A Node, with annotations `machineconfiguration.openshift.io/*` only. */
export interface ObservedNode extends Node {
  /** Keys of the labels that ovn-offload owns as a field manager. */
  readonly ownLabels: readonly string[];
}

/** What the config daemon has reported about a node. */
export interface NodeReport {
  /** Whether the report is about the current spec. */
  readonly isCurrent: boolean;
  /** The PFs, with the fields that identify SmartNICs, their mode, and how many VFs they can have. */
  readonly interfaces: readonly InterfaceStatus[];
  /** How the host reaches its network; undefined if the config daemon is too old to report it. */
  readonly hostNetwork: HostNetworkStatus | undefined;
  /** VF 0 of the management PF; undefined if it does not exist. */
  readonly managementVf: { readonly name: string } | undefined;
  /** Number of VFs that the spec reserves for management ports and that exist, from VF 0. */
  readonly managementVfs: number;
  /** Whether all VFs exist that the spec requests on the SmartNIC. */
  readonly vfsExist: boolean;
  /** status.lastSyncError, cut; empty if the node is configured. */
  readonly syncError: string;
  /** Whether the config daemon has disabled Open vSwitch, and the host booted since. */
  readonly openVSwitchDisabled: boolean;
}

/** ConfigMaps that ovn-offload shares with others. */
export type ConfigMapRole = "managementPorts" | "envOverrides" | "hardwareOffload";

export interface ObservedConfigMap {
  readonly namespace: string;
  readonly name: string;
  /** Whether the namespace exists. */
  readonly isPossible: boolean;
  /** Undefined if the ConfigMap does not exist. */
  readonly present:
    | {
        readonly metadata: { readonly resourceVersion: string };
        readonly data: Readonly<Record<string, string>>;
        /** Whether ovn-offload created it. */
        readonly isOwn: boolean;
        readonly annotations: Readonly<Record<string, string>>;
      }
    | undefined;
}

/**
 * OffloadWrite is one write to the cluster, as plain data. Writes of one decision do not depend on each other: what must come
 * later is decided when the earlier write has been observed. A write to an object of others has the resourceVersion from which
 * it was decided, so that it does not undo what they have changed since.
 */
export type OffloadWrite =
  /** All labels that ovn-offload owns on the node; others of its labels are removed. */
  | { readonly kind: "label-node"; readonly node: string; readonly uid: string; readonly labels: Labels }
  /** All taints of the node, those of others included. */
  | {
      readonly kind: "taint-node";
      readonly node: string;
      readonly resourceVersion: string | undefined;
      readonly taints: readonly Taint[];
    }
  | { readonly kind: "apply-policy"; readonly policy: OffloadPolicy }
  | { readonly kind: "delete-policy"; readonly name: string; readonly uid: string | undefined }
  | { readonly kind: "apply-machine-config"; readonly config: MachineConfigManifest }
  | { readonly kind: "delete-machine-config"; readonly name: string; readonly uid: string }
  /** Creates the ConfigMap if `resourceVersion` is undefined. */
  | {
      readonly kind: "patch-config-map";
      readonly role: ConfigMapRole;
      readonly resourceVersion: string | undefined;
      readonly data: Readonly<Record<string, string | null>>;
      readonly annotations: Readonly<Record<string, string | null>>;
    }
  | { readonly kind: "delete-config-map"; readonly role: ConfigMapRole; readonly resourceVersion: string }
  /** Creates the network if its resourceVersion is undefined. */
  | ({ readonly kind: "write-network" } & OffloadNetworkWrite)
  | {
      readonly kind: "delete-network";
      readonly namespace: string;
      readonly name: string;
      readonly resourceVersion: string;
    }
  | { readonly kind: "patch-dns"; readonly resourceVersion: string; readonly patch: DnsPatch };

type Labels = Readonly<Record<string, string>>;
