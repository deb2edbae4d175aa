// SPDX-License-Identifier: Apache-2.0
/**
 * SriovNetworkNodeState has the desired state of one node (spec, which the operator merges from the policies) and its
 * observed state (status, which the node's config daemon writes) (sriov-operator.md A.5). It is named after the node.
 *
 * The operator is the only writer of the spec and always sends all of it, so the spec is atomic in server-side apply:
 * fields that somebody adds by hand do not persist. The lists of the status are atomic, too. If they were maps by PCI
 * address and VF index, an object that is stored with a duplicate entry could no longer be written, and managedFields
 * would list each field of each VF. A node with 8 PFs and 64 VFs each takes 188 KB instead of 97 KB (kube-apiserver
 * 1.36).
 *
 * There are no validation rules beyond upstream's, except for deviceType. Programs write these objects; a refused write
 * would hide what the daemon observed, or block a node because of one invalid policy that is already stored. deviceType
 * becomes the name of a driver and of a kernel module on the node, so it has an enum. A policy's deviceType has the
 * same enum, so the operator writes no other values. A stored value stays valid while it is unchanged (ratcheting,
 * Kubernetes 1.30, where the enum of a spec is not checked when the status is written).
 *
 * The CRD's descriptions are generated from the JSDoc in this file: `npm run generate`.
 */
import { ageColumn, maxStatusTextBytes, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { CardModeStatus, FirmwareStatus } from "./card-status.ts";
import type { LinuxBridgeConfig, LinuxUplinkConfig, OvsBridgeConfig, OvsInterfaceConfig } from "./bridges.ts";
import type { ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";
import type { DeviceType } from "./sriov-network-node-policy.ts";

export const sriovNetworkNodeStates = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovNetworkNodeState",
  plural: "sriovnetworknodestates",
  namespaced: true,
  maxStatusTextBytes,
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
    { name: "Drain", type: "string", jsonPath: '.status.conditions[?(@.type=="DrainProgressing")].reason' },
    {
      name: "Drain Message",
      type: "string",
      jsonPath: '.status.conditions[?(@.type=="DrainProgressing")].message',
      wide: true,
    },
    { name: "Generation", type: "integer", jsonPath: ".metadata.generation", wide: true },
    { name: "Observed", type: "integer", jsonPath: ".status.observedGeneration", wide: true },
    { name: "Last Sync Error", type: "string", jsonPath: ".status.lastSyncError", wide: true },
    ageColumn,
  ],
} as const satisfies CustomResource;

/**
 * SriovNetworkNodeState has the desired and the observed state of one node's network cards. It is named after the node.
 */
export interface SriovNetworkNodeState {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovNetworkNodeState";
  readonly metadata: ObjectMeta;
  /**
   * Desired state of the node. The operator merges it from the policies and overwrites manual changes.
   * @x-kubernetes-map-type atomic
   */
  readonly spec?: SriovNetworkNodeStateSpec;
  /** Observed state of the node, written by the node's config daemon. */
  readonly status?: SriovNetworkNodeStateStatus;
}

/** Desired state of a node. */
export interface SriovNetworkNodeStateSpec {
  /** PFs to configure. PFs that are not listed are left unchanged. */
  readonly interfaces?: readonly InterfaceSpec[];
  /**
   * PCI addresses of PFs that Switchyard configured and that no policy selects any longer. The daemon removes their VFs
   * and restores their settings. The operator lists a PF only after the node has reported it with owned set to true.
   */
  readonly unselected?: readonly string[];
  /** Software bridges to create on the node. */
  readonly bridges?: Bridges;
  /** Settings of the whole node. */
  readonly system?: SystemSettings;
  /**
   * dra if pods get the VFs of the node by ResourceClaims (dynamic resource allocation). Absent if they get them from the device
   * plugin.
   */
  readonly allocation?: "dra";
}

/** Desired state of one PF. */
export interface InterfaceSpec {
  /** PCI address of the PF: "0000:86:00.0". */
  readonly pciAddress: string;
  /**
   * Number of VFs to create on the PF.
   * @asType integer
   */
  readonly numVfs?: number;
  /**
   * Minimum MTU of the PF in bytes. 0 leaves the MTU unchanged.
   * @asType integer
   */
  readonly mtu?: number;
  /** Name that the PF's network interface had when the spec was written. */
  readonly name?: string;
  /** Link type that the port must have: eth or ib, in lower or upper case. */
  readonly linkType?: string;
  /** Mode of the card's embedded switch: legacy or switchdev. Empty means legacy. */
  readonly eSwitchMode?: string;
  /** Whether another tool creates the VFs and configures the PF. */
  readonly externallyManaged?: boolean;
  /**
   * Mode that a SmartNIC (NVIDIA BlueField) must have: embedded-cpu, in which its own processors control the network of the
   * host. Absent if the mode does not matter.
   */
  readonly cardMode?: "embedded-cpu";
  /** Groups of VFs with common settings. VFs that belong to no group are left unchanged. */
  readonly vfGroups?: readonly VfGroup[];
}

/** A range of a PF's VFs with common settings. */
export interface VfGroup {
  /** Name of the extended resource that pods request the VFs by, without the resource prefix. */
  readonly resourceName?: string;
  /** Driver that the VFs are bound to: their kernel network driver (netdevice, the default) or vfio-pci. */
  readonly deviceType?: DeviceType;
  /** Indexes of the VFs, an inclusive range: "0-7". */
  readonly vfRange?: string;
  /** Name of the SriovNetworkNodePolicy that defines the group. */
  readonly policyName?: string;
  /**
   * MTU of the VFs in bytes. 0 leaves the MTU unchanged.
   * @asType integer
   */
  readonly mtu?: number;
  /** Whether pods also get the VF's RDMA device. */
  readonly isRdma?: boolean;
  /**
   * Type of the vDPA device to create on each VF.
   * @openEnum
   */
  readonly vdpaType?: "virtio" | "vhost";
  /** Whether pods also get the devices /dev/vhost-net and /dev/net/tun. */
  readonly needVhostNet?: boolean;
  /** Whether to hide the NUMA node of the VFs from the kubelet. */
  readonly excludeTopology?: boolean;
  /**
   * What the VFs are reserved for, whatever policies request: ovn-management-port is VF 0 of a SmartNIC, the management port
   * of OVN-Kubernetes. It has a resource only if OVN-Kubernetes requests it by one.
   */
  readonly reservedFor?: "ovn-management-port";
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
  /** PFs that are ports of the bridge: exactly one. */
  readonly uplinks?: readonly OvsUplink[];
  /** Spec only: networks of the host that lose their connection when the PF becomes a port, which a policy allows. */
  readonly disconnectedNetworks?: readonly string[];
  /** Status only: ports whose network interface no longer exists, such as representors of removed VFs. */
  readonly stalePorts?: readonly string[];
}

/** A PF as a port of an Open vSwitch bridge. */
export interface OvsUplink {
  /** PCI address of the PF: "0000:86:00.0". */
  readonly pciAddress: string;
  /** Name of the PF's network interface. */
  readonly name?: string;
  /** Settings of the port. */
  readonly interface?: OvsInterfaceConfig;
  /** Status only: why the port does not work. */
  readonly error?: string;
}

/** A Linux bridge. */
export interface LinuxBridge {
  /** Name of the bridge: "br-0000_86_00.0". */
  readonly name: string;
  /** Settings of the bridge. */
  readonly bridge?: LinuxBridgeConfig;
  /** PFs that are ports of the bridge: exactly one. */
  readonly uplinks?: readonly LinuxUplink[];
  /** Spec only: networks of the host that lose their connection when the PF becomes a port, which a policy allows. */
  readonly disconnectedNetworks?: readonly string[];
  /** Status only: administrative state of the bridge, up or down. */
  readonly linkAdminState?: string;
}

/** A PF as a port of a Linux bridge. */
export interface LinuxUplink {
  /** PCI address of the PF: "0000:86:00.0". */
  readonly pciAddress: string;
  /** Name of the PF's network interface. */
  readonly name?: string;
  /**
   * Settings of the port. Keys are names of files in /sys/class/net/PF/brport. The status shows the settings that are not
   * the default of Linux.
   */
  readonly uplink?: LinuxUplinkConfig;
}

/** Settings of the whole node. */
export interface SystemSettings {
  /**
   * Whether Open vSwitch is disabled on the host, because OVN runs on its SmartNIC. In the spec, true makes the config
   * daemon write the files that disable it, and reboot the node; on OpenShift, a MachineConfig has these files, and the
   * field is absent.
   */
  readonly openVSwitchDisabled?: boolean;
  /**
   * Network namespace mode of the RDMA subsystem: RDMA devices are visible in all network namespaces (shared) or in one
   * only (exclusive). If empty or absent in the spec, either mode is accepted; if empty or absent in the status, the
   * RDMA subsystem (ib_core) is not loaded.
   */
  readonly rdmaMode?: "shared" | "exclusive" | "";
}

/** Settings of the whole node as the daemon observed them. */
export interface SystemStatus extends SystemSettings {
  /**
   * Mode that the RDMA subsystem gets when its module ib_core is loaded the next time, from the file
   * /etc/modprobe.d/sriov_network_operator_modules_config.conf. The values are shared and exclusive, and foreign if the
   * file has other content, which Switchyard does not change. Absent if there is no such file.
   */
  readonly persistentRdmaMode?: "shared" | "exclusive" | "foreign";
  /**
   * Mode that the node had before Switchyard wrote this file. When no pool requests a mode any longer, the node returns to it:
   * at once, or at its next boot if the kernel refuses because other network namespaces exist. Absent if it is not known.
   */
  readonly initialRdmaMode?: "shared" | "exclusive";
  /**
   * Mode to which the running kernel could not change, because other network namespaces exist. The node reboots to change
   * to it if a pool requests it.
   */
  readonly refusedRdmaMode?: "shared" | "exclusive";
  /**
   * Whether network namespaces other than that of the host exist, such as those of pods. The kernel then refuses another RDMA
   * mode, so the node reboots for it. Absent if no other exists, and while the RDMA subsystem is not loaded.
   */
  readonly hasNetworkNamespaces?: boolean;
  /** Files by which the config daemon disables Open vSwitch on the host. Absent if the host has none of them. */
  readonly openVSwitchFiles?: OpenVSwitchFiles;
  /** How the host of a SmartNIC reaches its network. Absent on other nodes, and in reports of older config daemons. */
  readonly hostNetwork?: HostNetworkStatus;
  /** Why devices are missing that pods get with needVhostNet: "/dev/vhost-net is missing: …". Absent if none is missing. */
  readonly missingVhostDevices?: readonly string[];
  /** Arguments of the kernel, and the facts of the machine that determine which ones it needs. */
  readonly kernel?: KernelStatus;
  /** Last reboot that the config daemon started, until its causes are gone. */
  readonly reboot?: RebootStatus;
  /** A change of the whole node that would disrupt pods, and that the host has refused several times in the same way. */
  readonly refused?: RefusedChange;
}

/** Files by which the config daemon disables Open vSwitch on the host. */
export interface OpenVSwitchFiles {
  /**
   * Number of files that the config daemon has written, including its record of them.
   * @asType integer
   */
  readonly own: number;
  /** Whether all of them are in place, as this release of Switchyard writes them. */
  readonly complete: boolean;
  /** Other files at their paths, which the config daemon did not write and does not change. */
  readonly foreign?: readonly string[];
}

/** How the host of a SmartNIC reaches its network. */
export interface HostNetworkStatus {
  /**
   * Names of the interfaces that have the default route, or a route to the API server, and are interfaces of Open vSwitch or
   * above one. Absent if no interface is.
   */
  readonly openVSwitchInterfaces?: readonly string[];
  /**
   * Whether configure-ovs of OpenShift made these interfaces. When Open vSwitch is disabled, only such a host gets its network
   * back.
   */
  readonly madeByConfigureOvs?: boolean;
}

/** Arguments of the kernel, and the facts of the machine that determine which ones it needs. */
export interface KernelStatus {
  /** Arguments of the running kernel that concern the IOMMU, PCI resources and RDMA: "intel_iommu=on". */
  readonly arguments?: readonly string[];
  /** Arguments that the config daemon has configured for the next boot, in this boot. */
  readonly nextArguments?: readonly string[];
  /**
   * Program that configures kernel arguments on the node: grubby, rpm-ostree or update-grub. Absent if the node has none
   * of them.
   */
  readonly bootLoader?: string;
  /** Why the last attempt to configure kernel arguments failed; absent after a success. */
  readonly bootLoaderError?: string;
  /** Vendor of the CPUs: intel, amd or other. */
  readonly cpuVendor?: string;
  /** Whether an IOMMU is active. VFs cannot be bound to vfio-pci without it. */
  readonly iommu?: boolean;
  /** Whether the unsafe no-IOMMU mode of vfio is enabled, in which vfio-pci needs no IOMMU; absent if not. */
  readonly noIommuMode?: boolean;
}

/** A reboot that the config daemon started. */
export interface RebootStatus {
  /** Causes of the reboot: "kernel argument intel_iommu=on". The node does not reboot again for the same cause. */
  readonly causes?: readonly string[];
  /** Whether the node has booted since. */
  readonly done?: boolean;
}

/** Observed state of a node. */
export interface SriovNetworkNodeStateStatus extends ObjectStatus {
  /** All PFs of the node, ordered by PCI address. */
  readonly interfaces?: readonly InterfaceStatus[];
  /**
   * Whether it is known which pods have which VFs. Absent if the node has no VFs, and in reports of older config daemons: then it is
   * not known.
   */
  readonly holders?: HoldersStatus;
  /**
   * Which of device plugin and driver of ResourceClaims may begin to offer a VF of the node; the other one only withdraws VFs. The one
   * that is named passes it on. Absent, as devicePlugin, on nodes that had no other allocation.
   */
  readonly offeredBy?: "devicePlugin" | "dra";
  /**
   * Number of VFs in the ResourceSlices of the node, written by the driver of ResourceClaims; absent if it has not run.
   * @asType integer
   * @minimum 0
   */
  readonly publishedVfs?: number;
  /**
   * Software bridges that Switchyard created. Their maps have only the entries that Switchyard set. While Open vSwitch
   * cannot be reached, its bridges are as last known.
   */
  readonly bridges?: Bridges;
  /** State of Open vSwitch. Absent if the daemon does not manage software bridges. */
  readonly openVSwitch?: OpenVSwitchStatus;
  /** Settings of the whole node. */
  readonly system?: SystemStatus;
  /** Succeeded, InProgress or Failed; empty before the first report. The conditions have the details. */
  readonly syncStatus?: string;
  /** Error of the last attempt to configure the node; empty after a success. */
  readonly lastSyncError?: string;
  /**
   * boot_id (/proc/sys/kernel/random/boot_id) of the boot in which the node was last configured. While it differs from
   * the current boot_id, VFs may lack their MAC addresses and MTUs, and the device plugin does not offer them.
   */
  readonly bootID?: string;
}

/** Observed state of Open vSwitch on a node. */
export interface OpenVSwitchStatus {
  /** Why the database of Open vSwitch cannot be read; empty if it can. */
  readonly error?: string;
  /**
   * Why ovs-vswitchd forwards no packets: "ovs-vswitchd does not run: …". Absent if it runs. VFs of PFs with an Open vSwitch bridge are
   * then not offered to pods.
   */
  readonly switchError?: string;
  /** Whether hardware offload is configured: other_config:hw-offload of the table Open_vSwitch. */
  readonly hardwareOffload?: boolean;
  /** Whether ovs-vswitchd must be restarted, because it was started before Switchyard configured hardware offload. */
  readonly restartNeeded?: boolean;
  /**
   * Bridges that Switchyard did not create and leaves unchanged: those that have a PF as a port, or the name of a bridge
   * for a PF.
   */
  readonly otherBridges?: readonly OtherOvsBridge[];
}

/** An Open vSwitch bridge that Switchyard did not create. */
export interface OtherOvsBridge {
  /** Name of the bridge. */
  readonly name: string;
  /** PCI addresses of the PFs that are ports of the bridge. */
  readonly pciAddresses?: readonly string[];
}

/** Observed state of one PF. */
export interface InterfaceStatus {
  /** PCI address of the PF: "0000:86:00.0". */
  readonly pciAddress: string;
  /** Name of the PF's network interface. */
  readonly name?: string;
  /** MAC address of the PF. */
  readonly mac?: string;
  /** Kernel driver that the PF is bound to. */
  readonly driver?: string;
  /** PCI vendor ID of the PF, in hexadecimal. */
  readonly vendor?: string;
  /** PCI device ID of the PF, in hexadecimal. */
  readonly deviceID?: string;
  /** Network that the card is attached to on a virtual platform: "openstack/NetworkID:UUID". */
  readonly netFilter?: string;
  /**
   * MTU of the PF in bytes.
   * @asType integer
   */
  readonly mtu?: number;
  /**
   * Number of VFs that exist on the PF.
   * @asType integer
   */
  readonly numVfs?: number;
  /** PCIe root complex that the card is below, as in sysfs: "pci0000:3a". Absent if unknown. */
  readonly pcieRoot?: string;
  /**
   * NUMA node of the card. Absent if it has none, or if unknown.
   * @asType integer
   */
  readonly numaNode?: number;
  /** Speed of the link, for example "10000 Mb/s"; "-1 Mb/s" while the link is down. */
  readonly linkSpeed?: string;
  /** Link type of the port: ETH or IB; empty if unknown. */
  readonly linkType?: string;
  /** Administrative state of the network interface: up or down. It does not depend on the cable. */
  readonly linkAdminState?: string;
  /** Current mode of the card's embedded switch: legacy or switchdev. */
  readonly eSwitchMode?: string;
  /**
   * false if the driver offers the host no embedded switch, so that only eSwitchMode legacy is possible. Absent if it does, or if
   * this is not known.
   */
  readonly hasESwitch?: boolean;
  /**
   * How the card writes its flow tables (devlink parameter flow_steering_mode): smfs or dmfs. Absent if the driver does
   * not have the parameter.
   */
  readonly flowSteeringMode?: string;
  /** Whether another tool creates the VFs and configures the PF. */
  readonly externallyManaged?: boolean;
  /**
   * Maximum number of VFs that the PF supports.
   * @asType integer
   */
  readonly totalvfs?: number;
  /** VFs that exist on the PF, ordered by index. */
  readonly Vfs?: readonly VfStatus[];
  /** Alternative names of the PF's network interface. */
  readonly altNames?: readonly string[];
  /**
   * Maximum MTU that the PF supports, in bytes.
   * @asType integer
   */
  readonly maxMtu?: number;
  /** Name of the software bridge that Switchyard created for this PF. */
  readonly bridge?: string;
  /**
   * What the host uses the PF for, as long as the daemon manages software bridges: "default route", "route to the API server
   * 192.0.2.1", "network 10.7.0.0/16", "port of bond bond0". If there is an entry, the PF is not attached to a Linux bridge, and the Linux bridge
   * that it is attached to is not removed.
   */
  readonly hostUse?: readonly string[];
  /** Whether Switchyard configured this PF. If so, Switchyard resets the PF when no policy selects it any longer. */
  readonly owned?: boolean;
  /**
   * Names and alternative names that the PF had when Switchyard configured it and does not have now. Policies still
   * select the PF by these names unless another PF has the name now.
   */
  readonly recordedNames?: readonly string[];
  /**
   * MTU, in bytes, that the PF had before Switchyard configured it. It is restored when the PF is reset.
   * @asType integer
   */
  readonly initialMtu?: number;
  /** Mode of the embedded switch before Switchyard configured the PF. It is restored when the PF is reset. */
  readonly initialESwitchMode?: string;
  /** Mode of a SmartNIC (NVIDIA BlueField). Absent for other cards. */
  readonly cardMode?: CardModeStatus;
  /** Firmware settings of a Mellanox (NVIDIA) card that a policy selects or selected. */
  readonly firmware?: FirmwareStatus;
  /**
   * Number of VFs that could not be created because the PCI bridges have too little memory space (ENOMEM). The kernel
   * argument pci=realloc can help.
   * @asType integer
   */
  readonly numVfsWithoutMemory?: number;
  /**
   * What happened when the driver created fewer VFs than requested, or refused the number. The same number is not requested again
   * as long as the created VFs exist.
   */
  readonly fewerVfs?: FewerVfs;
  /** A change of the PF that would disrupt pods, and that the host has refused several times in the same way. */
  readonly refused?: RefusedChange;
  /** A change of the PF that the node has undone, because it lost its network by it. */
  readonly rolledBack?: RolledBackChange;
}

/** A change that is not tried again until the spec of the PF changes. */
export interface RolledBackChange {
  /** What was done: "set mtu 1500 -> 9000 on 0000:3b:00.0". */
  readonly changes: readonly string[];
  /** What worked before the change and not after it: "TCP connection to the API server 192.0.2.1, port 6443". */
  readonly probe: string;
  /** What was undone: "set mtu 9000 -> 1500 on 0000:3b:00.0". */
  readonly undone: readonly string[];
  /** Whether the probe worked again afterwards. */
  readonly reachable: boolean;
  /** What could not be undone; absent if all was. */
  readonly error?: string;
  /** Identifies the spec of the PF that requested the change. */
  readonly specDigest: string;
  /** What the probe was for. */
  readonly reason: "ApiServerUnreachable" | "GatewayUnreachable";
  /** Time of the rollback, in RFC 3339. */
  readonly time: string;
}

/** ResourceClaim for which the DRA driver has prepared a VF. */
export interface VfClaim {
  /** Namespace of the claim. */
  readonly namespace: string;
  /** Name of the claim. */
  readonly name: string;
  /** UID of the claim. */
  readonly uid: string;
  /**
   * Driver that the claim asks for: vfio-pci, or default for the kernel's network driver. The VF keeps it until the claim ends.
   * Absent if the VF keeps the driver that its policy says.
   */
  readonly driver?: string;
}

/** Whether it is known which pods have which VFs. */
export interface HoldersStatus {
  /** Whether the kubelet answers, so that VFs without a holder are free. Otherwise holders are as last known, and any VF may be held. */
  readonly known: boolean;
  /** Why it is not known; absent if it is. */
  readonly message?: string;
  /** Time of the kubelet's last answer, in RFC 3339, while it does not answer; absent if it has not answered since the daemon started. */
  readonly lastAnswer?: string;
}

/** A pod that has a VF. */
export interface VfHolder {
  /**
   * Namespace of the pod.
   * @maxLength 63
   */
  readonly namespace: string;
  /**
   * Name of the pod.
   * @maxLength 253
   */
  readonly name: string;
  /**
   * Uid of the pod, as the kubelet's files on the node say it; absent if they do not. That of a static pod is the value of the annotation
   * kubernetes.io/config.mirror of its mirror pod.
   * @maxLength 36
   */
  readonly uid?: string;
  /**
   * How the pod got the VF: by a device plugin (device-plugin) or by a ResourceClaim (dra).
   * @openEnum
   */
  readonly via: "device-plugin" | "dra";
  /**
   * Full name of the resource that the device plugin offered the VF by, or name of the driver of the ResourceClaim.
   * @maxLength 317
   */
  readonly resource: string;
  /**
   * Time at which the config daemon has first seen that the pod has the VF, in RFC 3339.
   * @maxLength 32
   */
  readonly since: string;
}

/** A change that is not tried again until the spec, the driver or the VFs of the PF change, or some hours have passed. */
export interface RefusedChange {
  /** What was tried: "set eswitch mode legacy -> switchdev on 0000:3b:00.0". */
  readonly changes: readonly string[];
  /** Answer of the host. */
  readonly error: string;
  /**
   * Number of attempts with this answer.
   * @asType integer
   */
  readonly attempts: number;
}

/** A request for VFs of which a driver created only some. */
export interface FewerVfs {
  /**
   * Number of VFs that were requested from the driver.
   * @asType integer
   */
  readonly requested: number;
  /**
   * Number of VFs that it created.
   * @asType integer
   */
  readonly created: number;
  /** Answer of the host if it refused the number; the PF then has the VFs that it had before. */
  readonly error?: string;
}

/** The settings of a VF without a pod that differ from those that it had when it was new. */
export interface UncleanVf {
  /**
   * The settings that differ.
   * @maxItems 12
   */
  readonly settings: readonly UncleanSetting[];
  /** Whether the config daemon resets them now, because the VF has been free for 30 seconds, and no device plugin offers it. */
  readonly reset?: boolean;
}

/** A setting of a VF that a past pod has left. */
export interface UncleanSetting {
  /** Name of the field of this status, such as Vlan, trust or adminMac. */
  readonly name: string;
  /**
   * Present value.
   * @maxLength 64
   */
  readonly value: string;
  /**
   * Value that the new VF had, and to which the setting is reset.
   * @maxLength 64
   */
  readonly initial: string;
}

/** Observed state of one VF. */
export interface VfStatus {
  /** PCI address of the VF. */
  readonly pciAddress: string;
  /**
   * Index of the VF on its PF, starting at 0.
   * @asType integer
   */
  readonly vfID: number;
  /** Name of the VF's network interface; absent while the VF is in a pod or bound to a userspace driver. */
  readonly name?: string;
  /**
   * Set if the VF has a kernel driver and no network interface, and no pod has the VF. The value is "waiting" while the
   * driver may still create the interface, "rebind" when the driver is to be bound again, and "permanent" if that did
   * not help. The device plugin does not offer the VF.
   */
  readonly missingInterface?: string;
  /** MAC address of the VF's network interface. */
  readonly mac?: string;
  /** MAC address that the PF has assigned to the VF: all zeros if the PF has assigned none, absent if unknown. */
  readonly adminMac?: string;
  /** Pod that uses the VF; not always known. The config daemon of Switchyard reports holder instead. */
  readonly assigned?: string;
  /** Pod that has the VF, as the kubelet says. A VF without a holder is free only if status.holders.known is true. */
  readonly holder?: VfHolder;
  /** ResourceClaim for which the DRA driver has prepared the VF. Absent if it is prepared for none. */
  readonly claim?: VfClaim;
  /** Kernel driver that the VF is bound to; absent if it is not bound to a driver. */
  readonly driver?: string;
  /**
   * Other devices in the IOMMU group of the VF, with their drivers: "0000:02:00.0 (tg3)". Absent if the VF has a group of its own, or
   * is not bound to vfio-pci.
   */
  readonly iommuGroupPeers?: readonly string[];
  /** PCI vendor ID of the VF, in hexadecimal. */
  readonly vendor?: string;
  /** PCI device ID of the VF, in hexadecimal. */
  readonly deviceID?: string;
  /**
   * VLAN ID that the PF assigns to the VF's traffic.
   * @asType integer
   */
  readonly Vlan?: number;
  /**
   * Priority of that VLAN; absent if it is 0.
   * @asType integer
   */
  readonly vlanQoS?: number;
  /** Protocol of that VLAN if it is 802.1ad; absent if it is 802.1q. */
  readonly vlanProto?: string;
  /** off if the PF lets the VF send packets with other source addresses than its own; absent if not, or if this is not known. */
  readonly spoofChk?: string;
  /** on if the PF trusts the VF, so that it may change its address; absent if not, or if this is not known. */
  readonly trust?: string;
  /** State of the link that the PF shows to the VF: enable or disable; absent if it is that of the port (auto). */
  readonly linkState?: string;
  /**
   * Rate in Mb/s that the PF guarantees to the VF; absent without a guarantee.
   * @asType integer
   */
  readonly minTxRate?: number;
  /**
   * Highest rate of the VF in Mb/s; absent without a limit.
   * @asType integer
   */
  readonly maxTxRate?: number;
  /** Whether the VF's network interface was set to promiscuous mode; absent if not. */
  readonly promiscuous?: boolean;
  /**
   * What a past pod has left of its settings. Absent if nothing is left, while a pod has the VF, and if the settings of the new VF are
   * not known. The device plugin does not offer such a VF.
   */
  readonly unclean?: UncleanVf;
  /**
   * MTU of the VF's network interface in bytes.
   * @asType integer
   */
  readonly mtu?: number;
  /**
   * Type of the vDPA device on the VF: virtio or vhost; unbound if the device has no driver. Absent if Switchyard has
   * not created a device on the VF.
   */
  readonly vdpaType?: string;
  /** Name of the VF's representor, in switchdev mode. */
  readonly representorName?: string;
  /** Name of the VF's RDMA device; absent if it has none, or if the device is in the network namespace of a pod. */
  readonly rdmaDevice?: string;
  /** State of the port of an InfiniBand VF: DOWN, INIT, ARMED or ACTIVE. Without linkState of a SriovIBNetwork, it stays DOWN. */
  readonly portState?: string;
  /** Node GUID of the VF's RDMA device: "0c42:a103:0016:054c". */
  readonly guid?: string;
  /**
   * InfiniBand GUID that the PF has assigned to the VF: all zeros if the PF has assigned none, absent if unknown or if
   * the link type is not InfiniBand.
   */
  readonly adminGuid?: string;
}
