// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkNodePolicy: which NICs of which nodes get how many VFs, and what these are for (sriov-operator.md A.4).
 * The JSDoc here is the CRD's text: `npm run generate`.
 */
import type { Condition, ObjectMeta, ResourceType } from "./metadata.ts";
import type { OvsBridgeConfig, OvsInterfaceConfig } from "./ovs-bridge.ts";

export const sriovNetworkNodePolicies = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovNetworkNodePolicy",
  plural: "sriovnetworknodepolicies",
  namespaced: true,
} as const satisfies ResourceType;

/** What a group of VFs is bound to. */
export type DeviceType = "netdevice" | "vfio-pci";

/** Asks for VFs on matching NICs of matching nodes. */
export interface SriovNetworkNodePolicy {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetworkNodePolicy";
  readonly metadata: ObjectMeta;
  readonly spec: SriovNetworkNodePolicySpec;
  readonly status?: SriovNetworkNodePolicyStatus;
}

/** What is wanted. */
export interface SriovNetworkNodePolicySpec {
  /** Device plugin resource that offers the VFs to pods, without the prefix. */
  readonly resourceName: string;
  /** Nodes that carry all these labels with exactly these values. Empty selects every node. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /**
   * Which policy wins where two ask for the same VFs: 0 is the strongest, 99 the weakest.
   * @asType integer
   * @minimum 0
   * @maximum 99
   */
  readonly priority?: number;
  /**
   * MTU of the VFs; the PF's is raised to it where lower.
   * @asType integer
   * @minimum 1
   */
  readonly mtu?: number;
  /**
   * VFs to create on each matching PF.
   * @asType integer
   * @minimum 0
   */
  readonly numVfs: number;
  /** Which PFs; all given fields must match, and at least one is needed. */
  readonly nicSelector: NicSelector;
  /**
   * netdevice leaves the VFs with their kernel driver, vfio-pci gives them to user space.
   * @default netdevice
   */
  readonly deviceType?: DeviceType;
  /** Pods also get the VF's RDMA device. */
  readonly isRdma?: boolean;
  /** Pods also get /dev/vhost-net (and /dev/net/tun). */
  readonly needVhostNet?: boolean;
  /** Port protocol; Mellanox cards are switched to it in firmware. */
  readonly linkType?: "eth" | "ETH" | "ib" | "IB";
  /** Mode of the NIC's embedded switch. Empty is legacy. */
  readonly eSwitchMode?: "legacy" | "switchdev";
  /** vDPA device made on each VF; needs switchdev and deviceType netdevice. */
  readonly vdpaType?: "virtio" | "vhost";
  /** Do not tell the kubelet which NUMA node the VFs belong to. */
  readonly excludeTopology?: boolean;
  /** Somebody else creates the VFs and configures the PF; only the VFs are set up. */
  readonly externallyManaged?: boolean;
  /** Software bridge that the PF is put into; needs switchdev and the feature gate manageSoftwareBridges. */
  readonly bridge?: PolicyBridge;
}

/** Conditions that a PF must fulfil, all of those given. */
export interface NicSelector {
  /** PCI vendor id, four hexadecimal digits: "8086". */
  readonly vendor?: string;
  /** PCI device id of the PF: "158b". */
  readonly deviceID?: string;
  /** PCI addresses of PFs: "0000:86:00.0". */
  readonly rootDevices?: readonly string[];
  /** Names or alternative names of PFs; "ens803f0#2-5" takes VFs 2 to 5 of that PF only. */
  readonly pfNames?: readonly string[];
  /** Network behind the NIC on a virtual platform: "openstack/NetworkID:<uuid>". */
  readonly netFilter?: string;
}

/** Software bridge of a policy. */
export interface PolicyBridge {
  /** Open vSwitch bridge. An empty object asks for a bridge with default settings. */
  readonly ovs?: PolicyOvsBridge;
}

/** Open vSwitch bridge of a policy. */
export interface PolicyOvsBridge {
  /** Settings of the bridge. */
  readonly bridge?: OvsBridgeConfig;
  /** Settings of the PF as the bridge's port. */
  readonly uplink?: { readonly interface?: OvsInterfaceConfig };
}

/** What became of it. */
export interface SriovNetworkNodePolicyStatus {
  /**
   * Ready, Progressing, Degraded.
   */
  readonly conditions?: readonly Condition[];
  /**
   * metadata.generation that this status was judged from.
   * @asType integer
   */
  readonly observedGeneration?: number;
  /**
   * Nodes that nodeSelector selects.
   * @asType integer
   */
  readonly matchedNodeCount?: number;
  /**
   * Of these, nodes that are configured as this policy asks.
   * @asType integer
   */
  readonly readyNodeCount?: number;
}
