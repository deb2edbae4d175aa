// SPDX-License-Identifier: Apache-2.0
/**
 * The fields ovnHardwareOffload of SriovOperatorConfig: which hosts run OVN on their SmartNIC, and how far they are
 * (proposal smartnic-ovn-offload).
 */
import type { Condition } from "../kubernetes/metadata.ts";

/** Selects the hosts of one MachineConfigPool, or of one set of nodes in clusters without MachineConfigPools. */
export interface OvnHardwareOffload {
  /**
   * On OpenShift: selects the custom MachineConfigPools whose spec.nodeSelector has all of these labels. The pools master
   * and worker cannot be selected. In other clusters: selects the nodes that have all of these labels.
   * @maxProperties 16
   * @x-kubernetes-validations [{ rule: "size(self) > 0", message: "must have at least one label" }]
   */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /**
   * Effect of the taint switchyard.io/ovn-offload that the hosts get. It keeps away pods that need an interface which only
   * Open vSwitch on the host can provide. By default, hosts get no taint.
   */
  readonly taint?: "NoSchedule";
}

/** State of the hosts of one pool. */
export interface OvnHardwareOffloadStatus {
  /** Name of the MachineConfigPool; in clusters without MachineConfigPools, a name made from the nodeSelector. */
  readonly pool: string;
  /**
   * Number of hosts in the pool.
   * @asType integer
   */
  readonly nodeCount: number;
  /**
   * Number of hosts whose OVN runs on the SmartNIC.
   * @asType integer
   */
  readonly readyNodeCount: number;
  /** The hosts, ordered by name, at most 500; hosts that are not ready come first. */
  readonly nodes?: readonly OvnOffloadNode[];
  /**
   * Number of pods on the hosts that cannot start, because they need an interface of Open vSwitch; absent without such pods.
   * @asType integer
   */
  readonly waitingPodCount?: number;
  /**
   * Ready, Progressing and Degraded: the message has the first thing that is missing. PodsWaiting: the message names pods of
   * waitingPodCount.
   */
  readonly conditions?: readonly Condition[];
}

/** How far one host is. Steps are done in the order of the fields. */
export interface OvnOffloadNode {
  /** Name of the node. */
  readonly name: string;
  /**
   * Mode of the SmartNIC: embedded-cpu, restricted, separated-host, nic or unknown. OVN runs on it in the first two modes.
   */
  readonly cardMode?: string;
  /** Whether all VFs of the pool's policies exist, VF 0 among them, with its permanent name. */
  readonly vfsReady: boolean;
  /** Whether the host booted with Open vSwitch disabled. */
  readonly machineConfigApplied: boolean;
  /** Whether OVN-Kubernetes can read the name of the host's management port. */
  readonly managementPortPublished: boolean;
  /** Whether the node has the label by which OVN-Kubernetes recognises the host of a SmartNIC. */
  readonly labelled: boolean;
  /** Present if no entry selects the node any more, so that it is being restored. */
  readonly leaving?: boolean;
  /** The first thing that is missing; absent if nothing is missing. */
  readonly missing?: string;
}
