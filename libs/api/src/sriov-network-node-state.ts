// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkNodeState: what one node shall have (spec, merged by the operator from the policies) and has
 * (status, written by the node's daemon) (sriov-operator.md A.5). Its name is the node's.
 * The JSDoc here is the CRD's text: `npm run generate`.
 */
import type { Condition, ObjectMeta, ResourceType } from "./metadata.ts";
import type { OvsBridgeConfig, OvsInterfaceConfig } from "./ovs-bridge.ts";
import type { DeviceType } from "./sriov-network-node-policy.ts";

export const sriovNetworkNodeStates = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovNetworkNodeState",
  plural: "sriovnetworknodestates",
  namespaced: true,
} as const satisfies ResourceType;

/** The network hardware of one node: as wanted, and as found. */
export interface SriovNetworkNodeState {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetworkNodeState";
  readonly metadata: ObjectMeta;
  readonly spec?: SriovNetworkNodeStateSpec;
  readonly status?: SriovNetworkNodeStateStatus;
}

/** What the node shall have. The operator writes it; edits by hand are undone. */
export interface SriovNetworkNodeStateSpec {
  /** PFs to configure; a PF that is not named is left alone, or reset if we configured it before. */
  readonly interfaces?: readonly InterfaceSpec[];
  /** Software bridges. */
  readonly bridges?: Bridges;
  /** Settings of the whole node. */
  readonly system?: SystemSettings;
}

/** One PF as wanted. */
export interface InterfaceSpec {
  /** PCI address of the PF: "0000:86:00.0". */
  readonly pciAddress: string;
  /**
   * VFs to create.
   * @asType integer
   */
  readonly numVfs?: number;
  /**
   * Least MTU of the PF; 0 leaves it.
   * @asType integer
   */
  readonly mtu?: number;
  /** Name of the PF when the spec was written. */
  readonly name?: string;
  /** Port protocol. */
  readonly linkType?: string;
  /** Mode of the embedded switch; empty is legacy. */
  readonly eSwitchMode?: string;
  /** Somebody else creates the VFs and configures the PF. */
  readonly externallyManaged?: boolean;
  /** What the VFs are for. VFs in no group are left alone. */
  readonly vfGroups?: readonly VfGroup[];
}

/** A range of one PF's VFs with one purpose. */
export interface VfGroup {
  /** Device plugin resource, without the prefix. */
  readonly resourceName?: string;
  /** netdevice leaves the VFs with their kernel driver, vfio-pci gives them to user space. */
  readonly deviceType?: DeviceType;
  /** VF indexes, both ends included: "0-7". */
  readonly vfRange?: string;
  /** Policy that asked for it. */
  readonly policyName?: string;
  /**
   * MTU of the VFs; 0 leaves it.
   * @asType integer
   */
  readonly mtu?: number;
  /** Pods also get the VF's RDMA device. */
  readonly isRdma?: boolean;
  /** vDPA device made on each VF. */
  readonly vdpaType?: "virtio" | "vhost";
  /** Pods also get /dev/vhost-net. */
  readonly needVhostNet?: boolean;
  /** Do not tell the kubelet which NUMA node the VFs belong to. */
  readonly excludeTopology?: boolean;
}

/** Software bridges of a node. */
export interface Bridges {
  /** Open vSwitch bridges, sorted by name. */
  readonly ovs?: readonly OvsBridge[];
}

/** An Open vSwitch bridge. */
export interface OvsBridge {
  /** Name of the bridge: "br-0000_86_00.0". */
  readonly name: string;
  /** Settings of the bridge. */
  readonly bridge?: OvsBridgeConfig;
  /** PFs in the bridge; exactly one. */
  readonly uplinks?: readonly OvsUplink[];
}

/** A PF as the port of an Open vSwitch bridge. */
export interface OvsUplink {
  /** PCI address of the PF. */
  readonly pciAddress: string;
  /** Name of the PF. */
  readonly name?: string;
  /** Settings of the port. */
  readonly interface?: OvsInterfaceConfig;
}

/** Settings of the whole node. */
export interface SystemSettings {
  /** Whether RDMA devices are visible in all network namespaces or only in their own. */
  readonly rdmaMode?: "shared" | "exclusive" | "";
}

/** What the node has. The node's daemon writes it. */
export interface SriovNetworkNodeStateStatus {
  /** All PFs of the node, in the order of their PCI addresses. */
  readonly interfaces?: readonly InterfaceStatus[];
  /** Software bridges that we own. */
  readonly bridges?: Bridges;
  /** Settings of the whole node. */
  readonly system?: SystemSettings;
  /** Succeeded, InProgress or Failed; empty before the first report. */
  readonly syncStatus?: string;
  /** Why the last attempt failed, in the kernel's words; empty after a success. */
  readonly lastSyncError?: string;
  /** Ready, Progressing, Degraded. */
  readonly conditions?: readonly Condition[];
  /**
   * metadata.generation that this status was judged from.
   * @asType integer
   */
  readonly observedGeneration?: number;
}

/** One PF as found. */
export interface InterfaceStatus {
  /** PCI address of the PF: "0000:86:00.0". */
  readonly pciAddress: string;
  /** Name of its network interface. */
  readonly name?: string;
  /** MAC address. */
  readonly mac?: string;
  /** Kernel driver. */
  readonly driver?: string;
  /** PCI vendor id. */
  readonly vendor?: string;
  /** PCI device id. */
  readonly deviceID?: string;
  /** Network behind it, on a virtual platform. */
  readonly netFilter?: string;
  /**
   * MTU.
   * @asType integer
   */
  readonly mtu?: number;
  /**
   * VFs that exist.
   * @asType integer
   */
  readonly numVfs?: number;
  /** Speed: "10000 Mb/s". */
  readonly linkSpeed?: string;
  /** ETH or IB. */
  readonly linkType?: string;
  /** up or down, as the administrator set it. */
  readonly linkAdminState?: string;
  /** legacy or switchdev. */
  readonly eSwitchMode?: string;
  /** Somebody else creates the VFs and configures the PF. */
  readonly externallyManaged?: boolean;
  /**
   * VFs that the device can have.
   * @asType integer
   */
  readonly totalvfs?: number;
  /** VFs that exist, by index. */
  readonly Vfs?: readonly VfStatus[];
  /** Alternative names. */
  readonly altNames?: readonly string[];
  /**
   * Largest MTU that the device takes.
   * @asType integer
   */
  readonly maxMtu?: number;
  /** We configured this PF, and reset it when no policy wants it any more. */
  readonly owned?: boolean;
  /**
   * MTU that the PF had before we configured it, and gets back when it is reset.
   * @asType integer
   */
  readonly initialMtu?: number;
}

/** One VF as found. */
export interface VfStatus {
  /** PCI address of the VF. */
  readonly pciAddress: string;
  /**
   * Index of the VF on its PF.
   * @asType integer
   */
  readonly vfID: number;
  /** Name of its network interface; absent while a pod or a user-space driver has it. */
  readonly name?: string;
  /** MAC address of its network interface. */
  readonly mac?: string;
  /** MAC address that the PF assigned to it; absent while none is. */
  readonly adminMac?: string;
  /** Pod that has it. */
  readonly assigned?: string;
  /** Kernel driver; empty while none is bound. */
  readonly driver?: string;
  /** PCI vendor id. */
  readonly vendor?: string;
  /** PCI device id. */
  readonly deviceID?: string;
  /**
   * VLAN that the PF puts it into.
   * @asType integer
   */
  readonly Vlan?: number;
  /**
   * MTU of its network interface.
   * @asType integer
   */
  readonly mtu?: number;
  /** vDPA device on it. */
  readonly vdpaType?: string;
  /** Name of its representor, in switchdev mode. */
  readonly representorName?: string;
  /** InfiniBand GUID. */
  readonly guid?: string;
}
