// SPDX-License-Identifier: Apache-2.0
/**
 * Labels, annotations, finalizers, field managers and fixed object names, most of which upstream and its users' tools
 * also use (sriov-operator.md A.9). Each is a complete string in this file and nowhere else.
 */

/** API group of the kinds that Switchyard defines. */
export const apiGroup = "sriovnetwork.openshift.io";

/** Group and version of the kinds that Switchyard defines. */
export const apiVersion = "sriovnetwork.openshift.io/v1";

/** API group of the kinds for AF_XDP. */
export const afxdpApiGroup = "afxdpnetwork.hns.dev";

/** Group and version of the kinds for AF_XDP. */
export const afxdpApiVersion = "afxdpnetwork.hns.dev/v1alpha1";

/** Prefix of the resource names of AF_XDP pools, the part before the slash. Programs in pods depend on it. */
export const afxdpResourcePrefix = "afxdp";

/** Directory for the XSK maps of devices in the BPF file system of a node, with a directory for each device. */
export const xskMapDirectory = "switchyard/afxdp";

/** File on the nodes in which afxdp-device-plugin records its pools. */
export const afxdpPluginRecord = "/var/lib/switchyard/afxdp-device-plugin.json";

/** Directory on the nodes with a record for each device that the plugins of upstream were given. */
export const upstreamDeviceDirectory = "/var/lib/switchyard/upstream-devices";

/** Directory on the nodes for the program that bpfman loads. The daemon of bpfman mounts /var/lib/bpfman of the node. */
export const bpfmanProgramDirectory = "/var/lib/bpfman/switchyard";

/** File name and function of Switchyard's program for bpfman. */
export const bpfmanProgram = { file: "xsk_redirect.o", functionName: "xsk_redirect" } as const;

/** Name of the driver of VFs for ResourceClaims, and domain of its attributes. Claims and classes of users depend on it. */
export const draDriverName = "sriovnetwork.k8snetworkplumbingwg.io";

/** Name of the only SriovOperatorConfig and the only AfxdpOperatorConfig, in the operator's namespace, with an effect. */
export const operatorConfigName = "default";

/** Keys of labels. */
export const labels = {
  /** On Nodes: "Enabled" or "Disabled". The device plugin's DaemonSet selects nodes with "Enabled". */
  devicePlugin: "sriovnetwork.openshift.io/device-plugin",
  /** On Nodes whose VFs are, or will be, in ResourceSlices: "Enabled". The DaemonSet of the driver selects them. */
  draDriver: "switchyard.io/dra-driver",
  /**
   * On Nodes whose OVN runs, or will run, on their SmartNIC: name of the pool (OvnHardwareOffloadStatus.pool). It is the
   * first thing that ovn-offload sets on a host and the last that it removes. As long as it is there, VF 0 of the SmartNIC
   * is reserved. On policies, MachineConfigs and other objects: the pool for which ovn-offload created them.
   */
  ovnOffloadPool: "switchyard.io/ovn-offload-pool",
  /** On Nodes with ovnOffloadPool: name of the resource, without prefix, that VF 0 of the SmartNIC is offered as. */
  ovnManagementResource: "switchyard.io/ovn-management-resource",
  /** On Nodes with ovnOffloadPool: number of VFs, from VF 0, that are management ports. Absent if it is 1. */
  ovnManagementVfs: "switchyard.io/ovn-management-vfs",
  /**
   * On Nodes with ovnOffloadPool in clusters without MachineConfigs: "daemon" makes the config daemon disable Open vSwitch
   * on the host (SystemSettings.openVSwitchDisabled).
   */
  ovnOffloadFiles: "switchyard.io/ovn-offload-files",
  /** On the pods with which `operator uninstall` gives hosts back: "host". */
  cleanup: "switchyard.io/cleanup",
  /** On the pods of `switchyard verify`: the run that created them. */
  verify: "switchyard.io/verify",
  /** On objects that a program has created, not a user: the program. */
  managedBy: "app.kubernetes.io/managed-by",
  /** On MachineConfigs of OpenShift: the role by which MachineConfigPools select them. */
  machineConfigRole: "machineconfiguration.openshift.io/role",
  /** On Nodes: the host name, by which objects of bpfman select one node. */
  hostname: "kubernetes.io/hostname",
} as const;

/** Keys of annotations. */
export const annotations = {
  /** On Nodes: the daemon's request, a DrainRequest. */
  nodeState: "sriovnetwork.openshift.io/state",
  /** On SriovNetworkNodeStates: the daemon's request, a DrainRequest. */
  desiredState: "sriovnetwork.openshift.io/desired-state",
  /** On SriovNetworkNodeStates: the operator's answer, a DrainAnswer. */
  currentState: "sriovnetwork.openshift.io/current-state",
  /** On SriovNetworkNodeStates: "true" if another program drains the node. */
  useExternalDrainer: "sriovnetwork.openshift.io/use-external-drainer",
  /**
   * On SriovNetworkNodeStates: the VFs whose pods must leave, as formatVfSet() writes them. Nobody offers these VFs meanwhile. Absent if
   * a request for a drain is about all VFs of the node.
   */
  drainVfs: "switchyard.io/drain-vfs",
  /**
   * On SriovNetworkNodeStates whose node has left the node set: RFC 3339 time after which the operator deletes them.
   */
  keepStateUntil: "sriovnetwork.openshift.io/keep-state-until",
  /**
   * On SriovOperatorConfigs and AfxdpOperatorConfigs: the time in the message of the condition ResetHeld, to reset the nodes that lost all
   * their policies before that time.
   */
  resetConfirmed: "switchyard.io/reset-confirmed",
  /** On NetworkAttachmentDefinitions: full name of the resource that pods need. Multus and the injector read it. */
  resourceName: "k8s.v1.cni.cncf.io/resourceName",
  /**
   * On NetworkAttachmentDefinitions: the network that it was rendered from, "OVSNetwork.<group>/<namespace>/<name>".
   */
  ownerRef: "sriovnetwork.openshift.io/owner-ref",
  /**
   * On networks: the namespace in which upstream's operator last created the NetworkAttachmentDefinition. Switchyard
   * does not use it; it looks for existing NetworkAttachmentDefinitions instead.
   */
  lastNetworkNamespace: "operator.sriovnetwork.openshift.io/last-network-namespace",
  /** On Nodes that the operator has cordoned. Only these nodes are uncordoned after the drain. */
  cordonedBy: "switchyard.io/cordoned-by",
  /** On Nodes of OpenShift: name of the merged MachineConfig that the node runs. */
  currentMachineConfig: "machineconfiguration.openshift.io/currentConfig",
  /** On Nodes of OpenShift: name of the desired MachineConfig, from which the node's MachineConfigPool follows. */
  desiredMachineConfig: "machineconfiguration.openshift.io/desiredConfig",
  /** On MachineConfigPools: "Paused" while the operator has paused the pool, "Idle" after it has resumed the pool. */
  machineConfigPoolState: "sriovnetwork.openshift.io/state",
  /** On Switchyard's CustomResourceDefinitions: the version of Switchyard that they belong to. */
  crdsVersion: "switchyard.io/crds-version",
  /** On Pods that the kubelet created from a file. They cannot be evicted. */
  mirrorPod: "kubernetes.io/config.mirror",
  /** On objects of bpfman: name of the Node for which the operator created them. */
  afxdpNode: "switchyard.io/afxdp-node",
  /** On objects of bpfman: the AF_XDP device for which the operator created them, as in status.programs of the node state. */
  afxdpDevice: "switchyard.io/afxdp-device",
  /** On BpfPrograms of bpfman 0.5 and earlier: ID of the program in the kernel. */
  bpfmanProgramId: "bpfman.io/ProgramId",
} as const;

/** Keys of taints. */
export const taints = {
  /** On devices of ResourceSlices: why claims cannot have the VF now, a DraWithheldReason. */
  vfWithheld: "switchyard.io/vf-withheld",
  /** On devices of ResourceSlices: why the VF does not work: no-carrier, driver-lost, device-error, pcie-errors, pf-gone or vf-gone. */
  unhealthy: "switchyard.io/unhealthy",
  /** On Nodes that are being drained: prevents DaemonSets from creating pods there before the drain is over. */
  draining: "switchyard.io/draining",
  /** On the hosts of spec.ovnHardwareOffload entries that ask for it. */
  ovnOffload: "switchyard.io/ovn-offload",
} as const;

/**
 * Upstream's finalizers. Upstream's operator removes them after it has cleaned up. Switchyard sets no finalizers, so
 * that nothing waits for an operator that is no longer installed.
 */
export const upstreamFinalizers = {
  operatorConfig: "operatorconfig.finalizers.sriovnetwork.openshift.io",
  poolConfig: "poolconfig.finalizers.sriovnetwork.openshift.io",
  network: "netattdef.finalizers.sriovnetwork.openshift.io",
} as const;

/** Field manager of upstream's operator. */
export const upstreamManager = "sriov-network-operator";

/** Field manager of the config daemon. */
export const daemonManager = "switchyard-config-daemon";

/** Field manager of the device plugin for AF_XDP, or of what configures the one of upstream: of the pools in node states. */
export const afxdpPluginManager = "switchyard-afxdp-device-plugin";

/** Name of the file in the node's directory of CNI plugins that the link "afxdp" leads to if Switchyard installed it. */
export const ownAfxdpCni = ".afxdp.switchyard";

/** Field manager of upstream's config daemon. */
export const upstreamDaemonManager = "sriov-network-config-daemon";

/** Requests of a config daemon, in annotations.nodeState and annotations.desiredState. */
export const drainRequests = {
  /** No drain is requested, or the request is withdrawn. */
  idle: "Idle",
  /** Evict the pods that use VFs. */
  drain: "Drain_Required",
  /** Evict all pods, because the node reboots. */
  reboot: "Reboot_Required",
} as const;

/** A value of drainRequests. */
export type DrainRequest = (typeof drainRequests)[keyof typeof drainRequests];

/** A request for a drain: of the pods that use VFs, or of all pods before a reboot. */
export type DrainNeed = Exclude<DrainRequest, typeof drainRequests.idle>;

/** Answers of the operator or an external drainer, in annotations.currentState. */
export const drainAnswers = { idle: "Idle", draining: "Draining", complete: "DrainComplete" } as const;

/** A value of drainAnswers. */
export type DrainAnswer = (typeof drainAnswers)[keyof typeof drainAnswers];
