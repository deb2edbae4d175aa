// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkNodePolicy: which NICs of which nodes get how many VFs, and what these are for (sriov-operator.md A.4).
 * The JSDoc here is the CRD's text: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { LinuxBridgeConfig, LinuxUplinkConfig } from "./linux-bridge.ts";
import type { NodeCounts, ObjectMeta, ObjectStatus } from "./metadata.ts";
import type { OvsBridgeConfig, OvsInterfaceConfig } from "./ovs-bridge.ts";

export const sriovNetworkNodePolicies = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovNetworkNodePolicy",
  plural: "sriovnetworknodepolicies",
  namespaced: true,
  columns: [
    { name: "Resource", type: "string", jsonPath: ".spec.resourceName" },
    { name: "VFs", type: "integer", jsonPath: ".spec.numVfs" },
    { name: "Priority", type: "integer", jsonPath: ".spec.priority" },
    { name: "Device Type", type: "string", jsonPath: ".spec.deviceType", wide: true },
    { name: "ESwitch", type: "string", jsonPath: ".spec.eSwitchMode", wide: true },
    { name: "MTU", type: "integer", jsonPath: ".spec.mtu", wide: true },
    { name: "Matched Nodes", type: "integer", jsonPath: ".status.matchedNodeCount" },
    { name: "Ready Nodes", type: "integer", jsonPath: ".status.readyNodeCount" },
    readyColumn,
    reasonColumn,
    ageColumn,
  ],
} as const satisfies CustomResource;

/** What a group of VFs is bound to. */
export type DeviceType = "netdevice" | "vfio-pci";

/** Asks for virtual functions (VFs) on the matching network cards of the matching nodes, and says what they are for. */
export interface SriovNetworkNodePolicy {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetworkNodePolicy";
  readonly metadata: ObjectMeta;
  /**
   * What is wanted.
   * @default { resourceName: "", nodeSelector: {}, numVfs: 0, nicSelector: {} }
   */
  // The default is what Go clients make of an absent spec, which upstream's CRD accepts: it matches no NIC.
  readonly spec: SriovNetworkNodePolicySpec;
  /** What became of it. */
  readonly status?: SriovNetworkNodePolicyStatus;
}

/** What is wanted. */
export interface SriovNetworkNodePolicySpec {
  /** Resource that pods request the VFs by, without its prefix: "mlxnics" is openshift.io/mlxnics in a pod. */
  readonly resourceName: string;
  /** Labels that a node must carry, all of them, with exactly these values. Empty selects every node. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /**
   * Which policy wins where several ask for the same VFs: 0 is the strongest, 99 the weakest. Of equal ones the last by
   * name wins. The admission webhook fills in 99.
   * @asType integer
   * @minimum 0
   * @maximum 99
   */
  readonly priority?: number;
  /**
   * MTU of the VFs in bytes. The PF's is raised to it where lower; it is not lowered.
   * @asType integer
   * @minimum 1
   */
  readonly mtu?: number;
  /**
   * VFs that each matching PF shall have.
   * @asType integer
   * @minimum 0
   */
  readonly numVfs: number;
  /** Which physical functions (PFs): those that match all given fields. At least one must be given. */
  readonly nicSelector: NicSelector;
  /**
   * What the VFs are bound to: their kernel driver (netdevice), or vfio-pci for DPDK and virtual machines.
   * @default netdevice
   */
  readonly deviceType?: DeviceType;
  /** Pods also get the VF's RDMA device. Not with vfio-pci. */
  readonly isRdma?: boolean;
  /** Pods also get /dev/vhost-net and /dev/net/tun. */
  readonly needVhostNet?: boolean;
  /** Protocol of the port, Ethernet or InfiniBand. Mellanox cards are switched to it in firmware, which needs a reboot. */
  readonly linkType?: "eth" | "ETH" | "ib" | "IB";
  /** Mode of the card's embedded switch; absent is legacy. switchdev gives each VF a representor on the host. */
  readonly eSwitchMode?: "legacy" | "switchdev";
  /** vDPA device to make on each VF. Needs eSwitchMode switchdev and deviceType netdevice. */
  readonly vdpaType?: "virtio" | "vhost";
  /** Do not tell the kubelet which NUMA node the VFs belong to, so that it cannot align pods by it. */
  readonly excludeTopology?: boolean;
  /** Somebody else creates the VFs and configures the PF: only the VFs' drivers and settings are ours. */
  readonly externallyManaged?: boolean;
  /** Software bridge to put each PF into. Needs eSwitchMode switchdev and the feature gate manageSoftwareBridges. */
  readonly bridge?: PolicyBridge;
}

/** What a PF must be, in all of the given fields. */
export interface NicSelector {
  /** PCI vendor id in hexadecimal: "8086" is Intel, "15b3" Mellanox. */
  readonly vendor?: string;
  /** PCI device id of the PF (not of its VFs) in hexadecimal: "158b". */
  readonly deviceID?: string;
  /** PCI addresses of the PFs, any of them: "0000:86:00.0". */
  readonly rootDevices?: readonly string[];
  /** Names or alternative names of the PFs, any of them. "ens803f0#2-5" takes VFs 2 to 5 of that PF, both included. */
  readonly pfNames?: readonly string[];
  /** Network behind the card on a virtual platform: "openstack/NetworkID:UUID" or "aws/NetworkID:ID". */
  readonly netFilter?: string;
}

/** Software bridge of a policy, of one type. An empty object is no bridge: Go clients always send one. */
export interface PolicyBridge {
  /** Open vSwitch bridge. An empty object is a bridge with default settings. */
  readonly ovs?: PolicyOvsBridge;
  /** Linux bridge. An empty object is a bridge with default settings. */
  readonly linux?: PolicyLinuxBridge;
}

/** Open vSwitch bridge of a policy. */
export interface PolicyOvsBridge {
  /** Settings of the bridge. */
  readonly bridge?: OvsBridgeConfig;
  /** Settings of the PF as the bridge's port. */
  readonly uplink?: PolicyOvsUplink;
}

/** The PF as port of a policy's Open vSwitch bridge. */
export interface PolicyOvsUplink {
  /** Settings of the port's interface. */
  readonly interface?: OvsInterfaceConfig;
}

/** Linux bridge of a policy. */
export interface PolicyLinuxBridge {
  /** Settings of the bridge. */
  readonly bridge?: LinuxBridgeConfig;
  /** Settings of the PF as the bridge's port, named like the files in /sys/class/net/PF/brport: { learning: "0" }. */
  readonly uplink?: LinuxUplinkConfig;
}

/** What became of it. */
export interface SriovNetworkNodePolicyStatus extends ObjectStatus, NodeCounts {}
