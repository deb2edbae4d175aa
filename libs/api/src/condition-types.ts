// SPDX-License-Identifier: Apache-2.0
/**
 * The types and reasons of all conditions (sriov-operator.md A.8, K.1). Each is a complete string in this file, so a
 * search for it finds it. The comment of a reason says when it is set, and `@remedy` what an administrator does about it; both are in
 * docs/reference/conditions.md and in `switchyard explain`, at most 160 characters each. `npm run generate` refuses a reason
 * without them.
 */

/** Types of conditions. */
export const conditionTypes = {
  /**
   * The spec of the object is completely applied. On SriovOperatorConfigs: all components are deployed, whatever the
   * state of their pods.
   */
  ready: "Ready",
  /** Changes are being applied, or wait for something that is expected to happen. */
  progressing: "Progressing",
  /** An error needs attention. */
  degraded: "Degraded",
  /**
   * On SriovNetworkNodeStates whose daemon has requested a drain: True while pods are evicted, False while the node
   * waits to be drained.
   */
  drainProgressing: "DrainProgressing",
  /**
   * On SriovNetworkNodeStates: pods keep a drain from ending, or the daemon of the drained node stalls. On the
   * SriovOperatorConfig: of nodes in no pool.
   */
  drainDegraded: "DrainDegraded",
  /**
   * On SriovNetworkNodeStates whose daemon has requested a drain: the node is drained, and its daemon may configure it.
   */
  drainComplete: "DrainComplete",
  /**
   * On SriovNetworkNodeStates: the config daemon waits because another process holds the node's lock; absent otherwise.
   */
  waitingForLock: "WaitingForLock",
  /**
   * On SriovNetworkNodeStates: the node has undone a change of a PF, because it lost its network by it; absent otherwise.
   */
  rolledBack: "RolledBack",
  /**
   * On SriovNetworkNodeStates that give VFs to ResourceClaims: a PF, or a VF that a claim has, does not work; absent otherwise.
   */
  vfsUnhealthy: "VfsUnhealthy",
  /**
   * On all kinds of this API group: a controller of the operator failed to reconcile the object; absent otherwise.
   */
  reconcileFailed: "ReconcileFailed",
  /** On SriovNetworkNodeStates: the node's device plugin offers all resources of the spec. */
  devicePluginConfigured: "DevicePluginConfigured",
  /**
   * On the SriovOperatorConfig, if --write-configmap is set: the ConfigMap in upstream's format contains all nodes.
   */
  devicePluginConfigMap: "DevicePluginConfigMap",
  /**
   * On the SriovOperatorConfig, if the operator creates the certificate: the network resources injector has a trusted
   * certificate.
   */
  injectorCertificate: "InjectorCertificate",
  /**
   * On the SriovOperatorConfig, if the operator creates the certificate: the admission webhook has a trusted
   * certificate.
   */
  webhookCertificate: "WebhookCertificate",
  /**
   * On SriovOperatorConfigs and AfxdpOperatorConfigs: nodes without policies keep their configuration, because the policies
   * may have been lost.
   */
  resetHeld: "ResetHeld",
  /**
   * On the SriovOperatorConfig: OVN of all hosts that spec.ovnHardwareOffload selects runs on their SmartNIC. Written
   * by ovn-offload.
   */
  hardwareOffload: "HardwareOffload",
  /**
   * On pools in the status of spec.ovnHardwareOffload: pods cannot start, because they need an interface of Open
   * vSwitch and have no VF network.
   */
  podsWaiting: "PodsWaiting",
} as const;

/** Reasons of conditions on SriovNetworkNodeStates, written by the node's config daemon. */
export const nodeStateReasons = {
  /**
   * The node is configured according to its spec.
   * @remedy Nothing.
   */
  configured: "Configured",
  /**
   * The node is being configured.
   * @remedy Wait. If it takes minutes, read the log of the node's config daemon.
   */
  configuring: "Configuring",
  /**
   * The daemon has requested a drain and waits for it.
   * @remedy Wait. The conditions DrainProgressing and DrainDegraded say what the drain waits for.
   */
  waitingForDrain: "WaitingForDrain",
  /**
   * The daemon reboots the node.
   * @remedy Wait until the node is back.
   */
  rebooting: "Rebooting",
  /**
   * The node does not support a part of the spec.
   * @remedy Change the policy as the message says, or select other nodes or NICs.
   */
  notPossible: "NotPossible",
  /**
   * The mode of a SmartNIC was changed and needs a power cycle. Everything else in the spec is configured.
   * @remedy Switch the host off and on again. A reboot is not enough.
   */
  powerCycleRequired: "PowerCycleRequired",
  /**
   * A configuration step failed; lastSyncError has the error.
   * @remedy Correct what lastSyncError names. The daemon tries again by itself.
   */
  stepFailed: "StepFailed",
  /**
   * A configuration step has been running for minutes and hangs in the kernel. Other PFs are configured nevertheless.
   * @remedy If the step does not return, reboot the node. A restart of the daemon does not help.
   */
  stepHangs: "StepHangs",
  /**
   * The daemon could not read the node's hardware.
   * @remedy Correct what the message names. The daemon tries again by itself.
   */
  discoveryFailed: "DiscoveryFailed",
  /**
   * The daemon could not finish its work, because the API server rejected a request or because of a bug. It retries.
   * @remedy Correct what the answer of the API server names, such as missing rights. Otherwise report the bug with the
   *   daemon's log.
   */
  passFailed: "PassFailed",
} as const;

/** Reasons of the condition VfsUnhealthy on SriovNetworkNodeStates, written by the DRA driver: that of the first problem. */
export const vfsUnhealthyReasons = {
  /**
   * The port of a PF has no carrier.
   * @remedy Check the cable and the switch. Claims can have the VFs again some seconds after the link is up.
   */
  noCarrier: "NoCarrier",
  /**
   * A PF, or a VF that a claim has, has no driver.
   * @remedy Look at the kernel log of the node for the driver, and bind it again.
   */
  driverLost: "DriverLost",
  /**
   * A devlink health reporter of the PF's driver is in error.
   * @remedy Run devlink health show and devlink health diagnose on the node; the firmware may have to be reset.
   */
  deviceError: "DeviceError",
  /**
   * A PF has reported uncorrectable PCIe errors in the last five minutes.
   * @remedy Look at the kernel log of the node. If they come again, check slot, riser and card.
   */
  pcieErrors: "PcieErrors",
  /**
   * A PF does not exist any longer.
   * @remedy Check whether the card was removed, or has failed. The kernel log of the node says when.
   */
  pfGone: "PfGone",
  /**
   * A VF that a claim has does not exist any longer.
   * @remedy Delete the pod of the claim: its VF was removed by hand, or by a reset of the PF.
   */
  vfGone: "VfGone",
} as const;

/** Reasons of the condition RolledBack, written by the config daemon. */
export const rolledBackReasons = {
  /**
   * After a change, the node did not reach the API server any more. It has undone the change and does not try it again.
   * @remedy Find out why the change cuts the PF off, then change the policy.
   */
  apiServerUnreachable: "ApiServerUnreachable",
  /**
   * After a change, a default gateway of the node did not answer any more. The node has undone the change and does not try it again.
   * @remedy Find out why the change cuts the PF off, then change the policy.
   */
  gatewayUnreachable: "GatewayUnreachable",
} as const;

/** Reasons of the condition WaitingForLock, written by the config daemon that waits. */
export const waitingForLockReasons = {
  /**
   * Another process holds the lock of the node, or the lock file has a problem; the message names it.
   * @remedy End that process, or correct the lock file. If the process hangs in the kernel, reboot the node.
   */
  lockNotFree: "LockNotFree",
} as const;

/** Reasons of the condition ReconcileFailed, written by the operator. */
export const reconcileFailedReasons = {
  /**
   * A controller could not reconcile the object; the message has the error. It tries again.
   * @remedy Correct what the answer of the API server names. Otherwise report the bug with the operator's log.
   */
  retrying: "Retrying",
} as const;

/** Reasons of the three drain conditions on SriovNetworkNodeStates, and of DrainDegraded on the SriovOperatorConfig. */
export const drainReasons = {
  /**
   * The maximum number of nodes of the node's pool is being drained.
   * @remedy Wait, or raise maxUnavailable of the pool.
   */
  waitingForSlot: "WaitingForSlot",
  /**
   * The maxUnavailable of the node's pool allows no drains.
   * @remedy Raise or correct maxUnavailable of the pool that the message names. 0 holds all drains.
   */
  heldByPool: "HeldByPool",
  /**
   * OpenShift is updating the node's MachineConfigPool.
   * @remedy Wait until OpenShift has updated the pool.
   */
  waitingForMachineConfigPool: "WaitingForMachineConfigPool",
  /**
   * The drain has started, and the operator is looking for the pods to evict.
   * @remedy Nothing.
   */
  lookingForPods: "LookingForPods",
  /**
   * Pods are being evicted.
   * @remedy Wait. The message names the pods that are left, and quotes the API server if it refuses an eviction.
   */
  evictingPods: "EvictingPods",
  /**
   * Some pods have not left the node for a long time.
   * @remedy Look at the pod that the message names: a PodDisruptionBudget, its grace period or its finalizers keep it.
   */
  podsStay: "PodsStay",
  /**
   * All pods that use VFs have left the node. Other pods stay.
   * @remedy Nothing. Restart the pods that the event VfsInUse names.
   */
  vfPodsGone: "VfPodsGone",
  /**
   * All evictable pods have left the node.
   * @remedy Nothing.
   */
  allPodsGone: "AllPodsGone",
  /**
   * The node is drained and counts against maxUnavailable, but its daemon does not continue.
   * @remedy Look at the pod and the log of the node's config daemon. Start it, or reboot the node if a step hangs.
   */
  daemonStalled: "DaemonStalled",
  /**
   * On the SriovOperatorConfig: nodes in no pool are being drained without problems.
   * @remedy Nothing.
   */
  draining: "Draining",
  /**
   * The only node of the cluster is not drained before it reboots, because its pods could not run anywhere else.
   * @remedy Nothing.
   */
  onlyNode: "OnlyNode",
} as const;

/** Reasons of conditions on SriovNetworkNodePolicies and SriovNetworkPoolConfigs, written by the operator. */
export const policyReasons = {
  /**
   * All matched nodes are configured.
   * @remedy Nothing.
   */
  configured: "Configured",
  /**
   * Some matched nodes are not configured yet.
   * @remedy Wait. The SriovNetworkNodeStates say what each node waits for.
   */
  configuring: "Configuring",
  /**
   * nodeSelector selects no node that runs the config daemon.
   * @remedy Correct nodeSelector, or label the nodes. Only nodes that run the config daemon count.
   */
  noNodes: "NoNodesMatched",
  /**
   * nicSelector matches no NIC of the selected nodes.
   * @remedy Compare nicSelector with the NICs that switchyard nics lists, or with status.interfaces of the
   *   SriovNetworkNodeStates.
   */
  noNics: "NoNicsMatched",
  /**
   * The policy is invalid for at least one node.
   * @remedy Correct the field that the message names.
   */
  invalid: "Invalid",
  /**
   * The configuration of at least one matched node has failed.
   * @remedy Look at the SriovNetworkNodeState of the node that the message names.
   */
  nodesFailed: "NodesFailed",
  /**
   * A drained node of the pool counts against maxUnavailable, but its daemon does not continue.
   * @remedy Look at the pod and the log of the node's config daemon. Start it, or reboot the node if a step hangs.
   */
  daemonStalled: "DaemonStalled",
  /**
   * Another pool selects some of the same nodes.
   * @remedy Change the nodeSelector of one of the pools.
   */
  overlap: "Overlap",
  /**
   * The policy has the name "default" and is ignored.
   * @remedy Give the policy another name, if it is to have an effect.
   */
  ignored: "Ignored",
  /**
   * The SriovOperatorConfig "default" does not exist, so no node is managed.
   * @remedy Create the SriovOperatorConfig "default" in the namespace of the operator.
   */
  noOperatorConfig: "NoOperatorConfig",
} as const;

/** Reasons of conditions on the SriovOperatorConfig, written by the operator. The first three are upstream's. */
export const operatorConfigReasons = {
  /**
   * All components are deployed as configured.
   * @remedy Nothing.
   */
  ready: "OperatorConfigReady",
  /**
   * The components are deployed, but an admission webhook has replaced fields of them; the message names the fields.
   * @remedy Exempt the components in that webhook, if its values are not wanted.
   */
  fieldsReplaced: "FieldsReplaced",
  /**
   * The components are deployed, but spec.ovnHardwareOffload has no effect: the service ovn-offload has not reported for a minute.
   * @remedy Set the chart's value ovnOffload.enabled to true, or look at the pods of the service.
   */
  offloadServiceMissing: "OffloadServiceMissing",
  /**
   * The API server rejected an object, or another field manager undoes each change of it; the message says which. The
   * operator retries.
   * @remedy Correct what the answer of the API server names, such as missing rights, or stop the other field manager.
   */
  syncFailed: "OperatorConfigSyncFailed",
  /**
   * The config has a setting that the operator cannot apply.
   * @remedy Change the setting that the message names.
   */
  unsupported: "UnsupportedConfiguration",
  /**
   * Pods are being replaced or are not available; the message has their numbers. The config may be Ready at the same
   * time.
   * @remedy Wait. If it stays, look at the pods in the namespace of the operator.
   */
  rollingOut: "RollingOut",
} as const;

/** Reasons of conditions on networks of all kinds, written by the operator. All of them are upstream's. */
export const networkReasons = {
  /**
   * The NetworkAttachmentDefinition exists and is up to date.
   * @remedy Nothing.
   */
  ready: "NetworkReady",
  /**
   * The network is invalid, or a NetworkAttachmentDefinition of the same name belongs to someone else.
   * @remedy Correct the field that the message names, or run the command in the message.
   */
  invalid: "NetworkAttachmentDefinitionInvalid",
  /**
   * The API server rejected the NetworkAttachmentDefinition or does not know the kind (no Multus), or an old one is
   * still being deleted.
   * @remedy Install Multus, or correct what the answer of the API server names.
   */
  notFound: "NetworkAttachmentDefinitionNotFound",
  /**
   * The namespace in spec.networkNamespace does not exist. The operator continues as soon as it exists.
   * @remedy Create the namespace, or correct spec.networkNamespace.
   */
  namespaceNotFound: "NamespaceNotFound",
  /**
   * Another field manager undoes each change of the NetworkAttachmentDefinition; the message names it and the field.
   * @remedy Stop the other program from writing this field.
   */
  contested: "FieldsContested",
  /**
   * The NetworkAttachmentDefinition exists, but an admission webhook has replaced fields of it; the message names the fields.
   * @remedy Exempt the NetworkAttachmentDefinition in that webhook, if its values are not wanted.
   */
  replaced: "FieldsReplaced",
} as const;

/** Reasons of the condition DevicePluginConfigured, written by the sidecar of the node's device plugin. */
export const devicePluginReasons = {
  /**
   * Each resource has all its VFs.
   * @remedy Nothing.
   */
  configured: "Configured",
  /**
   * The node gives its VFs to pods by ResourceClaims. The device plugin keeps those that pods have from it until these pods end.
   * @remedy Nothing. spec.allocation of the SriovNetworkPoolConfig, or the feature gate dynamicResourceAllocation, asks for it.
   */
  offeredToClaims: "OfferedToClaims",
  /**
   * VFs are being created, or are about to be created again.
   * @remedy Wait. The SriovNetworkNodeState says how far the config daemon is.
   */
  configuring: "Configuring",
  /**
   * VFs do not exist, and no process is creating them.
   * @remedy Look at the SriovNetworkNodeState, and at the log of the node's config daemon.
   */
  vfsMissing: "VfsMissing",
  /**
   * VFs are not offered yet: pods have them, or this is not known, ResourceSlices name them, or settings of past pods are being reset.
   * @remedy Wait until the pods that the message names have ended, or delete them. Let only one of device plugin and driver offer a VF.
   */
  vfsHeld: "VfsHeld",
  /**
   * The device plugin is configured, but the kubelet does not know a resource: no plugin has registered it, or no kubelet is there.
   * @remedy Look at the pod of the device plugin. If the kubelet has another directory, set operator.kubeletDirectory.
   */
  notRegistered: "NotRegistered",
  /**
   * The device plugin does not support the settings of a resource.
   * @remedy Change the policies of the resource as the message says.
   */
  notPossible: "NotPossible",
  /**
   * The plugin's configuration file could not be written, or the plugin could not be restarted.
   * @remedy Correct what the message names, such as a full disk. The sidecar tries again.
   */
  notApplied: "NotApplied",
} as const;

/** Reasons of the condition DevicePluginConfigMap, written by the operator. */
export const devicePluginConfigMapReasons = {
  /**
   * The ConfigMap is up to date.
   * @remedy Nothing.
   */
  written: "Written",
  /**
   * The ConfigMap would exceed the size limit of the API server, so it was not updated.
   * @remedy Switch --write-configmap off. Switchyard's own components do not read the ConfigMap.
   */
  tooLarge: "TooLarge",
  /**
   * The format of the ConfigMap cannot express the settings of some resources.
   * @remedy Change the policies of these resources, if a reader of the ConfigMap needs them.
   */
  notPossible: "NotPossible",
  /**
   * The API server rejected the ConfigMap; the message has the error.
   * @remedy Correct what the answer of the API server names. The operator tries again.
   */
  refused: "Refused",
} as const;

/** Reasons of the condition ResetHeld on SriovOperatorConfigs and AfxdpOperatorConfigs, written by the operator. */
export const resetHeldReasons = {
  /**
   * The namespace of the policies is being deleted.
   * @remedy If the loss is not intended, restore the namespace with its policies. Nodes are not reset until then.
   */
  namespaceTerminating: "NamespaceTerminating",
  /**
   * The CustomResourceDefinition of the policies is being deleted.
   * @remedy If the loss is not intended: kubectl apply --server-side -f charts/switchyard/crds, then restore the policies. Nodes are
   *   not reset until then.
   */
  definitionTerminating: "DefinitionTerminating",
  /**
   * The CustomResourceDefinition of the policies does not exist, or the API server does not serve the kind.
   * @remedy kubectl apply --server-side -f charts/switchyard/crds, then restore the policies. Nodes are not reset until then.
   */
  definitionMissing: "DefinitionMissing",
  /**
   * The namespace or the CustomResourceDefinition of the policies was created less than five minutes ago, after the
   * nodes were configured.
   * @remedy Restore the policies before the time in the message.
   */
  restorePending: "RestorePending",
  /**
   * Most of the configured nodes, and at least three, lost all their policies at once. They are reset after a minute.
   * @remedy If the loss is not intended, restore the policies before the time in the message. If it is, wait, or run
   *   the command in the message.
   */
  massLoss: "MassLoss",
} as const;

/** Reasons of the condition HardwareOffload on SriovOperatorConfigs, written by ovn-offload. */
export const hardwareOffloadReasons = {
  /**
   * OVN of all hosts that spec.ovnHardwareOffload selects runs on their SmartNIC.
   * @remedy Nothing.
   */
  ready: "Ready",
  /**
   * Hosts are on their way; the message names the first one and what it lacks.
   * @remedy Wait. status.ovnHardwareOffload has what each host lacks.
   */
  progressing: "Progressing",
  /**
   * A host or an object of the service needs an administrator; the message says which and what to do.
   * @remedy Do what the message says.
   */
  degraded: "Degraded",
} as const;

/** Reasons of the condition PodsWaiting on pools in the status of spec.ovnHardwareOffload, written by ovn-offload. */
export const podsWaitingReasons = {
  /**
   * Pods cannot start on hosts of the pool, because they have no network with a VF as default network.
   * @remedy Give the pods the annotation v1.multus-cni.io/default-network, or keep them away with taint: NoSchedule.
   */
  noInterface: "NoInterface",
  /**
   * No pod waits.
   * @remedy Nothing.
   */
  noPods: "NoPods",
} as const;

/** Reasons of the conditions InjectorCertificate and WebhookCertificate, written by the operator. */
export const certificateReasons = {
  /**
   * The certificate is valid and trusted by the API server.
   * @remedy Nothing.
   */
  valid: "Valid",
  /**
   * The certificate has expired or is not valid yet, for example because a clock was ahead. The operator replaces it.
   * @remedy Correct the clocks of the hosts.
   */
  notValidNow: "NotValidNow",
  /**
   * The Secret has a certificate that the operator did not create. The operator does not change it.
   * @remedy Delete the Secret, or configure its CA by --webhook-ca or --injector-ca.
   */
  foreignSecret: "ForeignSecret",
  /**
   * The API server rejected the Secret or the webhook configuration; the message has the error. The operator retries.
   * @remedy Correct what the answer of the API server names. The operator tries again.
   */
  refused: "Refused",
} as const;
