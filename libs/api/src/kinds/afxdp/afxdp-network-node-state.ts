// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpNetworkNodeState has the desired AF_XDP devices of one node (spec, which the operator merges from the policies) and
 * the observed ones (status, which the components on the node write) (eve-and-afxdp.md b4). It is named after the node.
 *
 * As in SriovNetworkNodeState, the spec and the lists of the status are atomic in server-side apply, and there are no
 * rules that could refuse what a component observed. The CRD's descriptions are generated from the JSDoc in this file:
 * `npm run generate`.
 */
import type { ObjectMeta, ObjectStatus } from "../../kubernetes/metadata.ts";
import { ageColumn, maxStatusTextBytes, readyColumn, reasonColumn, type CustomResource } from "../custom-resource.ts";
import type { RefusedChange } from "../sriov-network-node-state.ts";
import type { AfxdpMode, AfxdpPoolSettings } from "./afxdp-pool.ts";

export const afxdpNetworkNodeStates = {
  group: "afxdpnetwork.hns.dev",
  version: "v1alpha1",
  kind: "AfxdpNetworkNodeState",
  plural: "afxdpnetworknodestates",
  namespaced: true,
  maxStatusTextBytes,
  columns: [
    { name: "Sync Status", type: "string", jsonPath: ".status.syncStatus" },
    readyColumn,
    reasonColumn,
    { name: "Last Sync Error", type: "string", jsonPath: ".status.lastSyncError", wide: true },
    ageColumn,
  ],
} as const satisfies CustomResource;

/**
 * AfxdpNetworkNodeState has the desired and the observed state of one node's AF_XDP devices. It is named after the node.
 */
export interface AfxdpNetworkNodeState {
  readonly apiVersion: "afxdpnetwork.hns.dev/v1alpha1";
  readonly kind: "AfxdpNetworkNodeState";
  readonly metadata: ObjectMeta;
  /**
   * Desired state of the node. The operator merges it from the policies and overwrites manual changes.
   * @x-kubernetes-map-type atomic
   */
  readonly spec?: AfxdpNetworkNodeStateSpec;
  /** Observed state of the node, written by the components on the node. */
  readonly status?: AfxdpNetworkNodeStateStatus;
}

/** Desired state of a node. */
export interface AfxdpNetworkNodeStateSpec {
  /** Devices to configure, in the order of status.interfaces. Devices that are not listed are left unchanged. */
  readonly interfaces?: readonly AfxdpInterfaceSpec[];
  /** Pools of the node, sorted by name. */
  readonly pools?: readonly AfxdpPoolSpec[];
  /**
   * Devices that Switchyard configured and that no policy selects any longer: their PCI addresses, or the names of devices
   * without PCI address. The daemon removes their subfunctions and restores their settings. The operator lists a device only
   * after the node has reported it with owned set to true.
   */
  readonly unselected?: readonly string[];
}

/** Desired state of one device. It has a pciAddress or, if it is not a PCI device, a name only. */
export interface AfxdpInterfaceSpec {
  /** PCI address of the device: "0000:86:00.0". Absent for devices that are not on the PCI bus, such as veth. */
  readonly pciAddress?: string;
  /** Name that the network interface had when the spec was written. */
  readonly name?: string;
  /** Whether pods get the device itself (primary) or subfunctions of it (subfunction). */
  readonly mode: AfxdpMode;
  /** Name of the pool that the device, or its subfunctions, belong to. */
  readonly poolName: string;
  /** Name of the AfxdpNetworkNodePolicy that selects the device. */
  readonly policyName?: string;
  /**
   * MTU of the device or, with mode subfunction, of its subfunctions, in bytes. Absent if it is not to be changed.
   * @asType integer
   */
  readonly mtu?: number;
  /**
   * Number of subfunctions; absent with mode primary.
   * @asType integer
   */
  readonly numSfs?: number;
  /**
   * Number of queues (combined channels) of the device or, with mode subfunction, of its subfunctions. Absent if it is not
   * to be changed.
   * @asType integer
   */
  readonly queues?: number;
  /**
   * Name of the bridge of Linux or Open vSwitch of which the representors of the subfunctions become ports. Absent if they
   * are connected to nothing.
   */
  readonly bridge?: string;
  /** Whether another tool creates the subfunctions and configures the device. */
  readonly externallyManaged?: boolean;
}

/** A pool of devices: the extended resource afxdp/NAME. */
export interface AfxdpPoolSpec extends AfxdpPoolSettings {
  /** Name of the pool. */
  readonly name: string;
  /** Whether the pool consists of devices (primary) or of subfunctions (subfunction). */
  readonly mode: AfxdpMode;
}

/** Observed state of a node. */
export interface AfxdpNetworkNodeStateStatus extends ObjectStatus {
  /** Network interfaces of the node that could be AF_XDP devices, ordered by PCI address, then by name. */
  readonly interfaces?: readonly AfxdpInterfaceStatus[];
  /** Pools that the device plugin serves, sorted by name. Written by the device plugin. */
  readonly pools?: readonly AfxdpPoolStatus[];
  /**
   * XDP programs that bpfman loads for the devices, sorted by device. Written by the operator with loader bpfman; absent
   * without such programs.
   */
  readonly programs?: readonly AfxdpLoadedProgram[];
  /**
   * State of the node for loader bpfman. Written by the device plugin; absent with loader builtin once all programs of
   * bpfman are gone.
   */
  readonly bpfman?: AfxdpBpfmanStatus;
  /** Succeeded, InProgress or Failed; empty before the first report. The conditions have the details. */
  readonly syncStatus?: string;
  /** Error of the last attempt to configure the node; empty after a success. */
  readonly lastSyncError?: string;
}

/** The XDP program that bpfman loads for one device. */
export interface AfxdpLoadedProgram {
  /** Device: its PCI address, the PCI address and the number of a subfunction ("0000:86:00.0/sf/4"), or its name. */
  readonly device: string;
  /** Name of the network interface that bpfman attaches the program to. */
  readonly interfaceName: string;
  /** Name of the object of bpfman: a ClusterBpfApplication, or an XdpProgram of bpfman 0.5 and earlier. */
  readonly objectName: string;
  /**
   * ID of the program in the kernel. The device plugin finds the XSK map by it. Absent until bpfman has loaded and attached
   * the program.
   */
  readonly programID?: AfxdpProgramID;
  /**
   * Whether the operator is about to remove the program. The device plugin then gives the device to no further pod, and
   * confirms the removal in bpfman.releasedPrograms as soon as no pod has the device.
   */
  readonly release?: boolean;
  /** Why the program is not loaded or not attached. Absent without an error. */
  readonly error?: string;
}

/** What the device plugin reports to the operator for loader bpfman. */
export interface AfxdpBpfmanStatus {
  /**
   * Devices to which bpfman can attach its program, sorted: they are in the network namespace of the node, and Switchyard has
   * no program on them. Absent with loader builtin.
   */
  readonly readyDevices?: readonly string[];
  /** IDs of the programs with release set to true whose devices no pod has, sorted. */
  readonly releasedPrograms?: readonly AfxdpProgramID[];
}

/**
 * ID of a program in the kernel.
 * @asType integer
 */
export type AfxdpProgramID = number;

/** Observed state of one device. */
export interface AfxdpInterfaceStatus {
  /** PCI address of the device. Absent for devices that are not on the PCI bus. */
  readonly pciAddress?: string;
  /** Name of the network interface; absent while it is in the network namespace of a pod. */
  readonly name?: string;
  /** Alternative names of the network interface. */
  readonly altNames?: readonly string[];
  /**
   * Names and alternative names that the device had when Switchyard configured it and does not have now. Policies still
   * select the device by these names unless another device has the name now.
   */
  readonly recordedNames?: readonly string[];
  /** MAC address of the network interface. */
  readonly mac?: string;
  /** MAC address that the card has from its manufacturer. Absent if it has none, and while the interface is in a pod. */
  readonly permanentMac?: string;
  /** PCI vendor ID of the device, in hexadecimal. */
  readonly vendor?: string;
  /** PCI device ID of the device, in hexadecimal. */
  readonly deviceID?: string;
  /** Kernel driver of the device. */
  readonly driver?: string;
  /**
   * MTU of the device in bytes.
   * @asType integer
   */
  readonly mtu?: number;
  /**
   * Maximum MTU that the device supports, in bytes.
   * @asType integer
   */
  readonly maxMtu?: number;
  /** Speed of the link, for example "10000 Mb/s"; "-1 Mb/s" while the link is down. */
  readonly linkSpeed?: string;
  /** Link type of the device: ETH or IB; empty if unknown. */
  readonly linkType?: string;
  /** Administrative state of the network interface: up or down. It does not depend on the cable. */
  readonly linkAdminState?: string;
  /**
   * NUMA node of the device. Absent if it has none.
   * @asType integer
   */
  readonly numaNode?: number;
  /**
   * Number of queues (combined channels) that AF_XDP sockets can use.
   * @asType integer
   */
  readonly queues?: number;
  /**
   * Maximum number of queues that the device supports.
   * @asType integer
   */
  readonly maxQueues?: number;
  /** What the driver supports of XDP, and the XDP program that is attached. */
  readonly xdp?: AfxdpXdpStatus;
  /** Mode of the card's embedded switch: legacy or switchdev. Absent if the card has none. */
  readonly eSwitchMode?: string;
  /**
   * Maximum number of subfunctions that the device supports. Absent if unknown; 0 if it supports none.
   * @asType integer
   */
  readonly maxSfs?: number;
  /**
   * Number of subfunctions that exist on the device.
   * @asType integer
   */
  readonly numSfs?: number;
  /** Subfunctions that exist on the device, ordered by number. */
  readonly subfunctions?: readonly AfxdpSubfunctionStatus[];
  /**
   * Why the device cannot be an AF_XDP device, because the host uses it. Examples are "default route", "route to the
   * API server 192.0.2.1", "port of bond bond0" and "port of bridge br0". Others are "vlan eth0.7", "macvlan mac0",
   * "XDP program 7 (xsk_def_prog) of another program" and "VFs". For a minute after the use has ended, "until less than
   * a minute ago" is added. Empty if nothing uses it.
   */
  readonly usedBy?: readonly string[];
  /**
   * Whether a pod has the device, as the kubelet of the node says. A device that a pod may have just got, or has just given back,
   * counts for ten seconds. Absent if the kubelet does not answer, and for devices that Switchyard has not configured.
   */
  readonly held?: boolean;
  /** Whether another tool creates the subfunctions and configures the device. */
  readonly externallyManaged?: boolean;
  /** Whether Switchyard configured this device. If so, it is reset when no policy selects it any longer. */
  readonly owned?: boolean;
  /**
   * MTU, in bytes, that the device had before Switchyard configured it. It is restored when the device is reset.
   * @asType integer
   */
  readonly initialMtu?: number;
  /**
   * Number of queues that the device had before Switchyard configured it. It is restored when the device is reset.
   * @asType integer
   */
  readonly initialQueues?: number;
  /** Mode of the embedded switch before Switchyard configured the device. It is restored when the device is reset. */
  readonly initialESwitchMode?: string;
  /**
   * Other card that Switchyard configured at this PCI address before: its vendor and device ID, and its permanent MAC address if
   * known. What is recorded about that card is not applied to this one.
   */
  readonly replacedCard?: string;
  /** A change of the device that would disrupt pods, and that the host has refused several times in the same way. */
  readonly refused?: RefusedChange;
}

/** What the driver of a device supports of XDP. A field is absent if it is not known, for example with older kernels. */
export interface AfxdpXdpStatus {
  /** Whether the driver runs XDP programs itself. Otherwise, the kernel runs them, which is slower. */
  readonly native?: boolean;
  /** Whether the driver supports AF_XDP sockets without copying packets. */
  readonly zeroCopy?: boolean;
  /** XDP program that is attached to the device. Absent without one. */
  readonly program?: AfxdpProgramStatus;
}

/** An XDP program that is attached to a device. */
export interface AfxdpProgramStatus {
  /**
   * ID of the program in the kernel.
   * @asType integer
   */
  readonly id: number;
  /** Name of the program. */
  readonly name?: string;
  /** Who runs the program: the driver (native), the kernel (generic) or the card (offloaded). */
  readonly mode?: string;
  /**
   * Whether Switchyard attached the program. Switchyard leaves other programs unchanged, except those that the plugins of upstream
   * have certainly left.
   */
  readonly owned?: boolean;
}

/** Observed state of one subfunction. */
export interface AfxdpSubfunctionStatus {
  /**
   * Number of the subfunction on its device (sfnum).
   * @asType integer
   */
  readonly sfNumber: number;
  /**
   * Index of its port on the devlink device.
   * @asType integer
   */
  readonly portIndex?: number;
  /** Its devlink device: "auxiliary/mlx5_core.sf.4". Absent while it is not active. */
  readonly device?: string;
  /** Name of its network interface; absent while it is in the network namespace of a pod. */
  readonly name?: string;
  /** MAC address of its network interface. */
  readonly mac?: string;
  /**
   * MAC address that Switchyard chose for the subfunction, which its network interface gets at each activation. Absent if another
   * program created the subfunction, or if its driver chooses the address.
   */
  readonly assignedMac?: string;
  /**
   * MTU of its network interface in bytes.
   * @asType integer
   */
  readonly mtu?: number;
  /** Kernel driver of the subfunction; absent if it is not bound to a driver. */
  readonly driver?: string;
  /** State that was requested: active or inactive. */
  readonly state?: string;
  /** State that the driver reports: attached or detached. */
  readonly operationalState?: string;
  /**
   * Number of queues (combined channels) that AF_XDP sockets can use.
   * @asType integer
   */
  readonly queues?: number;
  /** What its driver supports of XDP, and the XDP program that is attached. */
  readonly xdp?: AfxdpXdpStatus;
  /** Network interface that represents the subfunction in the embedded switch of the card. Absent if it has none. */
  readonly representor?: AfxdpRepresentorStatus;
  /** What the host uses the subfunction for, as usedBy of a device. It is given to no pod then. */
  readonly usedBy?: readonly string[];
  /** Whether a pod has the subfunction, as held of a device. */
  readonly held?: boolean;
  /** Name of the pool that the subfunction belongs to. Absent if it belongs to none. */
  readonly poolName?: string;
  /** Whether Switchyard created the subfunction. */
  readonly owned?: boolean;
}

/** Observed state of a representor: packets reach a subfunction only if its representor is up and connected. */
export interface AfxdpRepresentorStatus {
  /** Name of the network interface. */
  readonly name: string;
  /** Administrative state: up or down. */
  readonly linkAdminState?: string;
  /**
   * MTU in bytes.
   * @asType integer
   */
  readonly mtu?: number;
  /** Name of the bridge of which it is a port; "ovs-system" for all bridges of Open vSwitch. Absent if it is a port of none. */
  readonly master?: string;
}

/** Observed state of a pool. */
export interface AfxdpPoolStatus {
  /** Name of the pool. */
  readonly name: string;
  /**
   * Number of devices that the device plugin announces to the kubelet.
   * @asType integer
   */
  readonly announced?: number;
  /**
   * Number of announced devices that are healthy, and that the kubelet can therefore give to pods.
   * @asType integer
   */
  readonly allocatable?: number;
  /** Why the pool is not offered completely; empty if it is. */
  readonly error?: string;
}
