// SPDX-License-Identifier: Apache-2.0
/**
 * Labels, annotations, finalizers and fixed object names that upstream and its users' tools share with us
 * (sriov-operator.md A.9). Each stands whole here and nowhere else.
 */

export const apiGroup = "sriovnetwork.openshift.io";
export const apiVersion = "sriovnetwork.openshift.io/v1";

/** SriovOperatorConfig: only this name, in the operator's namespace, is honoured. */
export const operatorConfigName = "default";

export const labels = {
  /** On Nodes: "Enabled" or "Disabled"; the device plugin's DaemonSet selects Enabled. */
  devicePlugin: "sriovnetwork.openshift.io/device-plugin",
} as const;

export const annotations = {
  /** On Nodes: the daemon's request, one of DrainRequest. */
  nodeState: "sriovnetwork.openshift.io/state",
  /** On SriovNetworkNodeStates: the daemon's request, one of DrainRequest. */
  desiredState: "sriovnetwork.openshift.io/desired-state",
  /** On SriovNetworkNodeStates: the operator's answer, one of DrainAnswer. */
  currentState: "sriovnetwork.openshift.io/current-state",
  /** On SriovNetworkNodeStates: "true" leaves draining to somebody else. */
  useExternalDrainer: "sriovnetwork.openshift.io/use-external-drainer",
  /** On SriovNetworkNodeStates whose node left: RFC 3339 time after which they are deleted. */
  keepStateUntil: "sriovnetwork.openshift.io/keep-state-until",
  /** On NetworkAttachmentDefinitions: the resource that its pods need, with prefix; Multus and the injector read it. */
  resourceName: "k8s.v1.cni.cncf.io/resourceName",
  /** On NetworkAttachmentDefinitions: the network that it is made from, "OVSNetwork.<group>/<namespace>/<name>". */
  ownerRef: "sriovnetwork.openshift.io/owner-ref",
  /** On networks: where upstream's operator made the NetworkAttachmentDefinition last. We look at what is there instead. */
  lastNetworkNamespace: "operator.sriovnetwork.openshift.io/last-network-namespace",
  /** On Nodes that we made unschedulable to drain them, and no others: only these become schedulable again. */
  cordonedBy: "switchyard.io/cordoned-by",
  /** On OpenShift's Nodes: the MachineConfig that the node is to have, which tells its MachineConfigPool. */
  desiredMachineConfig: "machineconfiguration.openshift.io/desiredConfig",
  /** On MachineConfigPools: "Paused" where we paused the pool, "Idle" where we let it go on. */
  machineConfigPoolState: "sriovnetwork.openshift.io/state",
  /** On Pods that the kubelet made from a file: nobody can evict them. */
  mirrorPod: "kubernetes.io/config.mirror",
} as const;

export const taints = {
  /** On Nodes that are drained: keeps DaemonSets from making their pods anew there before the drain is over. */
  draining: "switchyard.io/draining",
} as const;

/** Upstream's: it removes them once it has cleaned up. We do without, so that nothing waits for an operator that is gone. */
export const upstreamFinalizers = {
  operatorConfig: "operatorconfig.finalizers.sriovnetwork.openshift.io",
  poolConfig: "poolconfig.finalizers.sriovnetwork.openshift.io",
  network: "netattdef.finalizers.sriovnetwork.openshift.io",
} as const;

/** Field manager of what upstream's operator wrote. */
export const upstreamManager = "sriov-network-operator";

/** Field manager of what the node's daemon writes. */
export const daemonManager = "switchyard-config-daemon";

/** Field manager of what upstream's daemon wrote. */
export const upstreamDaemonManager = "sriov-network-config-daemon";

/** What a daemon asks for, in annotations.nodeState and annotations.desiredState. */
export type DrainRequest = "Idle" | "Drain_Required" | "Reboot_Required";

/** What the operator (or an external drainer) answers, in annotations.currentState. */
export type DrainAnswer = "Idle" | "Draining" | "DrainComplete";
