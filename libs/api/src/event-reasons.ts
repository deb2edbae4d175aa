// SPDX-License-Identifier: Apache-2.0
/**
 * The reasons of all events that do not have the reason of a condition. The comment of a reason says when it occurs and on which
 * object, and `@remedy` what an administrator does about it. Both are in docs/reference/events.md and in `switchyard explain`, at
 * most 160 characters each. `npm run generate` refuses an event whose reason is not here.
 */

/** Reasons of events. */
export const eventReasons = {
  /**
   * On the SriovOperatorConfig: the versions of the API server went back, as after the restore of a backup of etcd. All objects are read again.
   * @remedy Compare the objects with what you expect: changes after the backup are lost. Restart other clients that do not notice it.
   */
  backupRestored: "BackupRestored",
  /**
   * On node states: another card is in the slot of a card that Switchyard configured. Nothing on it is changed.
   * @remedy Nothing. If the former card returns, its record counts again.
   */
  cardReplaced: "CardReplaced",
  /**
   * On ResourceClaims: a pod waits for the claim, and no node has the VFs that it asks for. The note says what is missing.
   * @remedy Do what the note suggests, such as a free VF, a repaired link or another selector; switchyard doctor has the next command.
   */
  claimWaits: "ClaimWaits",
  /**
   * On node states and Nodes: the pods have left the node, and its config daemon continues.
   * @remedy Nothing.
   */
  drainCompleted: "DrainCompleted",
  /**
   * On node states and Nodes: the config daemon needs the drain no longer, and the node is released. The note says whether it is schedulable.
   * @remedy Nothing. A node that an administrator had cordoned stays unschedulable: run kubectl uncordon when you are done.
   */
  drainReleased: "DrainReleased",
  /**
   * On node states and Nodes: the node has a slot of its pool, and its pods are being evicted.
   * @remedy Nothing. The condition DrainProgressing of the node state names the pods that are left.
   */
  drainStarted: "DrainStarted",
  /**
   * On the SriovOperatorConfig: OVN of a pool, or of all pools, cannot move to the SmartNICs.
   * @remedy Correct what the note names. The service ovn-offload continues by itself.
   */
  ovnOffloadDegraded: "OvnOffloadDegraded",
  /**
   * On node states: the SriovOperatorConfig is gone, and the host stays as it is.
   * @remedy Do what the note says, or create the SriovOperatorConfig again.
   */
  ovnOffloadHostKept: "OvnOffloadHostKept",
  /**
   * On node states: the host is no longer selected, and OVN returns from its SmartNIC.
   * @remedy Wait for OvnOffloadHostRestored.
   */
  ovnOffloadHostLeaving: "OvnOffloadHostLeaving",
  /**
   * On node states: OVN of the host runs on its SmartNIC.
   * @remedy Nothing.
   */
  ovnOffloadHostReady: "OvnOffloadHostReady",
  /**
   * On node states: OVN runs on the host again, and nothing of it is left on the SmartNIC.
   * @remedy Nothing.
   */
  ovnOffloadHostRestored: "OvnOffloadHostRestored",
  /**
   * On the SriovOperatorConfig: a pool is no longer selected, and its nodes are being restored.
   * @remedy Wait for OvnOffloadRestored.
   */
  ovnOffloadLeaving: "OvnOffloadLeaving",
  /**
   * On the SriovOperatorConfig: somebody else has deleted an object of ovn-offload that hosts need, and it is written again.
   * @remedy Find who deleted it in the audit log of the API server. To give hosts back, remove the entry of ovnHardwareOffload.
   */
  ovnOffloadObjectRestored: "OvnOffloadObjectRestored",
  /**
   * On the SriovOperatorConfig: OVN of all nodes of a pool runs on their SmartNICs.
   * @remedy Nothing.
   */
  ovnOffloadReady: "OvnOffloadReady",
  /**
   * On the SriovOperatorConfig: all nodes of a pool that is no longer selected are restored.
   * @remedy Nothing.
   */
  ovnOffloadRestored: "OvnOffloadRestored",
  /**
   * On the SriovOperatorConfig: a pool is selected, and OVN of its nodes moves to their SmartNICs.
   * @remedy Wait for OvnOffloadReady.
   */
  ovnOffloadSelected: "OvnOffloadSelected",
  /**
   * On node states: the config daemon reboots the node. The note has the causes.
   * @remedy Nothing. The daemon reboots a node at most once for each cause.
   */
  rebootNode: "RebootNode",
  /**
   * On all kinds: a controller of the operator has failed twice in a row for this object. The note has the error.
   * @remedy Correct what the answer of the API server names. Otherwise report the bug with the operator's log.
   */
  reconcileFailed: "ReconcileFailed",
  /**
   * On networks and the SriovOperatorConfig: another program replaces the conditions again and again. The note names it and a field.
   * @remedy Stop the other program, such as a pod of the Go operator that did not end.
   */
  statusContested: "StatusContested",
  /**
   * On node states: the configuration has failed. The note is status.lastSyncError.
   * @remedy Correct what the note names. The config daemon tries again by itself.
   */
  syncFailed: "SyncFailed",
  /**
   * On node states: status.syncStatus has changed, for example from "InProgress" to "Succeeded".
   * @remedy Nothing.
   */
  syncStatusChanged: "SyncStatusChanged",
  /**
   * On the SriovOperatorConfig, on OpenShift: the MachineConfig of the systemd mode is written.
   * @remedy Nothing. OpenShift reboots the machines of the pool.
   */
  systemdModeInstalled: "SystemdModeInstalled",
  /**
   * On the SriovOperatorConfig, on OpenShift: a MachineConfig of this name contains other units, and is not changed.
   * @remedy Delete that MachineConfig to use the systemd mode.
   */
  systemdModeNotInstalled: "SystemdModeNotInstalled",
  /**
   * On the SriovOperatorConfig, on OpenShift: the MachineConfig of the systemd mode is deleted.
   * @remedy Nothing. OpenShift reboots the machines of the pool.
   */
  systemdModeRemoved: "SystemdModeRemoved",
  /**
   * On node states: the config daemon could not remove files of the Go operator's systemd mode. The note names them.
   * @remedy Correct what the note names, such as a file system that is read-only. The daemon tries again.
   */
  upstreamFilesNotRemoved: "UpstreamFilesNotRemoved",
  /**
   * On node states: a past pod has left a VF with its settings, such as its VLAN. The note says which, and what they are reset to.
   * @remedy Nothing. If it occurs often, look why the CNI plugin of the network does not restore VFs when pods end.
   */
  vfNotClean: "VfNotClean",
  /**
   * On node states, at the end of a drain: pods that cannot be kept off the node may lose their VFs. The note names them.
   * @remedy Restart these pods when the node is configured.
   */
  vfsInUse: "VfsInUse",
  /**
   * On node states: XDP programs of a device plugin that was switched off could not be detached. The note says why.
   * @remedy Correct what the note names, or end the pods that use the devices. The daemon tries again.
   */
  xdpProgramsNotDetached: "XdpProgramsNotDetached",
} as const;

/** Reason of an event that does not have the reason of a condition. */
export type EventReason = (typeof eventReasons)[keyof typeof eventReasons];
