// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkNodeState: what one node shall have (spec, merged by the operator from the policies) and has
 * (status, written by the node's daemon) (sriov-operator.md A.5). Its name is the node's.
 *
 * The spec has one writer, which sends it whole, so it is atomic in server-side apply: what somebody adds to it by hand does
 * not stay beside what the operator writes. The same goes for the lists of the status. As maps by PCI address and VF index,
 * an object with a duplicate row that is already stored could not be written any more, and managedFields would name each
 * field of each VF: a node of 8 PFs with 64 VFs each takes 188 KB instead of 97 KB (kube-apiserver 1.36).
 *
 * There are no rules beyond upstream's, but for deviceType: programs write these objects, and to refuse a write would hide
 * what was found or stop a node over one bad policy that is stored already. deviceType becomes the name of a driver and of
 * a kernel module on the node. The operator writes no other values, as a policy's deviceType has the same enum; what is
 * stored already stays writable while it is unchanged (ratcheting, Kubernetes 1.30).
 * The JSDoc here is the CRD's text: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { LinuxBridgeConfig, LinuxUplinkConfig } from "./linux-bridge.ts";
import type { ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";
import type { OvsBridgeConfig, OvsInterfaceConfig } from "./ovs-bridge.ts";
import type { DeviceType } from "./sriov-network-node-policy.ts";

export const sriovNetworkNodeStates = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovNetworkNodeState",
  plural: "sriovnetworknodestates",
  namespaced: true,
  columns: [
    { name: "Sync Status", type: "string", jsonPath: ".status.syncStatus" },
    {
      name: "Desired Sync State",
      type: "string",
      jsonPath: ".metadata.annotations.sriovnetwork\\.openshift\\.io/desired-state",
    },
    {
      name: "Current Sync State",
      type: "string",
      jsonPath: ".metadata.annotations.sriovnetwork\\.openshift\\.io/current-state",
    },
    readyColumn,
    reasonColumn,
    { name: "Drain", type: "string", jsonPath: '.status.conditions[?(@.type=="DrainProgressing")].message' },
    { name: "Last Sync Error", type: "string", jsonPath: ".status.lastSyncError", wide: true },
    ageColumn,
  ],
} as const satisfies CustomResource;

/** The network cards of one node: as wanted, and as found. It is named after the node. */
export interface SriovNetworkNodeState {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetworkNodeState";
  readonly metadata: ObjectMeta;
  /**
   * What the node shall have. The operator writes it from the policies; edits by hand are undone.
   * @x-kubernetes-map-type atomic
   */
  readonly spec?: SriovNetworkNodeStateSpec;
  /** What the node has. The node's daemon writes it. */
  readonly status?: SriovNetworkNodeStateStatus;
}

/** What the node shall have. */
export interface SriovNetworkNodeStateSpec {
  /** PFs to configure. One that is not listed is left alone. */
  readonly interfaces?: readonly InterfaceSpec[];
  /**
   * PCI addresses of PFs that Switchyard configured and that no policy selects any more. Their VFs are removed and their
   * settings restored. The operator lists a PF only after the node has reported it as configured by Switchyard.
   */
  readonly unselected?: readonly string[];
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
   * VFs that the PF shall have.
   * @asType integer
   */
  readonly numVfs?: number;
  /**
   * Least MTU of the PF in bytes; 0 leaves it as it is.
   * @asType integer
   */
  readonly mtu?: number;
  /** Name of the PF's network interface when the spec was written. */
  readonly name?: string;
  /** Protocol of the port: eth or ib, in either case. */
  readonly linkType?: string;
  /** Mode of the card's embedded switch: legacy (also when empty) or switchdev. */
  readonly eSwitchMode?: string;
  /** Somebody else creates the VFs and configures the PF. */
  readonly externallyManaged?: boolean;
  /** What the VFs are for. VFs in no group are left alone. */
  readonly vfGroups?: readonly VfGroup[];
}

/** A range of one PF's VFs with one purpose. */
export interface VfGroup {
  /** Resource that pods request the VFs by, without its prefix. */
  readonly resourceName?: string;
  /** What the VFs are bound to; absent is their kernel driver. */
  readonly deviceType?: DeviceType;
  /** VFs by index, both ends included: "0-7". */
  readonly vfRange?: string;
  /** Policy that asked for it. */
  readonly policyName?: string;
  /**
   * MTU of the VFs in bytes; 0 leaves it as it is.
   * @asType integer
   */
  readonly mtu?: number;
  /** Pods also get the VF's RDMA device. */
  readonly isRdma?: boolean;
  /**
   * vDPA device to make on each VF.
   * @openEnum
   */
  readonly vdpaType?: "virtio" | "vhost";
  /** Pods also get /dev/vhost-net and /dev/net/tun. */
  readonly needVhostNet?: boolean;
  /** Do not tell the kubelet which NUMA node the VFs belong to. */
  readonly excludeTopology?: boolean;
}

/** Software bridges of a node. */
export interface Bridges {
  /** Open vSwitch bridges, sorted by name. */
  readonly ovs?: readonly OvsBridge[];
  /** Linux bridges, sorted by name. */
  readonly linux?: readonly LinuxBridge[];
}

/** An Open vSwitch bridge. */
export interface OvsBridge {
  /** Name of the bridge: "br-0000_86_00.0". */
  readonly name: string;
  /** Settings of the bridge. */
  readonly bridge?: OvsBridgeConfig;
  /** PFs in the bridge: exactly one. */
  readonly uplinks?: readonly OvsUplink[];
}

/** A PF as the port of an Open vSwitch bridge. */
export interface OvsUplink {
  /** PCI address of the PF: "0000:86:00.0". */
  readonly pciAddress: string;
  /** Name of the PF's network interface. */
  readonly name?: string;
  /** Settings of the port. */
  readonly interface?: OvsInterfaceConfig;
}

/** A Linux bridge. */
export interface LinuxBridge {
  /** Name of the bridge: "br-0000_86_00.0". */
  readonly name: string;
  /** Settings of the bridge. */
  readonly bridge?: LinuxBridgeConfig;
  /** PFs in the bridge: exactly one. */
  readonly uplinks?: readonly LinuxUplink[];
}

/** A PF as the port of a Linux bridge. */
export interface LinuxUplink {
  /** PCI address of the PF: "0000:86:00.0". */
  readonly pciAddress: string;
  /** Name of the PF's network interface. */
  readonly name?: string;
  /** Settings of the port, named like the files in /sys/class/net/PF/brport. */
  readonly uplink?: LinuxUplinkConfig;
}

/** Settings of the whole node. */
export interface SystemSettings {
  /**
   * Whether RDMA devices are seen in all network namespaces (shared) or in one each (exclusive). Empty or absent in the spec:
   * any mode; in the status: no mode, since the RDMA subsystem (ib_core) is not loaded.
   */
  readonly rdmaMode?: "shared" | "exclusive" | "";
}

/** What the node has. */
export interface SriovNetworkNodeStateStatus extends ObjectStatus {
  /** All PFs of the node, in the order of their PCI addresses. */
  readonly interfaces?: readonly InterfaceStatus[];
  /** Software bridges that we made. */
  readonly bridges?: Bridges;
  /** Settings of the whole node. */
  readonly system?: SystemSettings;
  /** Succeeded, InProgress or Failed; empty before the first report. The conditions say more. */
  readonly syncStatus?: string;
  /** Why the last attempt failed, in the kernel's words; empty after a success. */
  readonly lastSyncError?: string;
  /**
   * Boot of the node in which the daemon last had done what it could: the kernel's /proc/sys/kernel/random/boot_id. While it
   * is not the present one, VFs that outlived a reboot may lack their addresses and MTUs, and a device plugin waits.
   */
  readonly bootID?: string;
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
  /** PCI vendor id in hexadecimal. */
  readonly vendor?: string;
  /** PCI device id in hexadecimal. */
  readonly deviceID?: string;
  /** Network behind it on a virtual platform: "openstack/NetworkID:UUID". */
  readonly netFilter?: string;
  /**
   * MTU in bytes.
   * @asType integer
   */
  readonly mtu?: number;
  /**
   * VFs that exist.
   * @asType integer
   */
  readonly numVfs?: number;
  /** Speed of the link: "10000 Mb/s"; -1 while there is none. */
  readonly linkSpeed?: string;
  /** Protocol of the port: ETH or IB; empty when unknown. */
  readonly linkType?: string;
  /** Whether the interface is set up or down, whatever its cable says. */
  readonly linkAdminState?: string;
  /** Mode of the card's embedded switch: legacy or switchdev. */
  readonly eSwitchMode?: string;
  /** Somebody else creates the VFs and configures the PF. */
  readonly externallyManaged?: boolean;
  /**
   * VFs that the PF can have.
   * @asType integer
   */
  readonly totalvfs?: number;
  /** The VFs that exist, ordered by index. */
  readonly Vfs?: readonly VfStatus[];
  /** Alternative names of its network interface. */
  readonly altNames?: readonly string[];
  /**
   * Largest MTU that it takes, in bytes.
   * @asType integer
   */
  readonly maxMtu?: number;
  /** Switchyard configured this PF, and resets it when no policy selects it any more. */
  readonly owned?: boolean;
  /**
   * Names and alternative names that it had when Switchyard configured it and does not have now. Policies still select it
   * by them, unless another PF has the name.
   */
  readonly recordedNames?: readonly string[];
  /**
   * MTU that it had before we configured it, and gets back when it is reset.
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
  /** Name of its network interface; absent while a pod or a driver for user space has it. */
  readonly name?: string;
  /** MAC address of its network interface. */
  readonly mac?: string;
  /** MAC address that the PF gave it: all zeros while it gave none, absent when unknown. */
  readonly adminMac?: string;
  /** Pod that has it; not always known. */
  readonly assigned?: string;
  /** Kernel driver; absent while none is bound. */
  readonly driver?: string;
  /** PCI vendor id in hexadecimal. */
  readonly vendor?: string;
  /** PCI device id in hexadecimal. */
  readonly deviceID?: string;
  /**
   * VLAN that the PF puts it into.
   * @asType integer
   */
  readonly Vlan?: number;
  /**
   * MTU of its network interface in bytes.
   * @asType integer
   */
  readonly mtu?: number;
  /** vDPA device on it: virtio or vhost. */
  readonly vdpaType?: string;
  /** Name of its representor, in switchdev mode. */
  readonly representorName?: string;
  /** InfiniBand GUID. */
  readonly guid?: string;
}
