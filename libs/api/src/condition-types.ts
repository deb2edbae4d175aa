// SPDX-License-Identifier: Apache-2.0
/**
 * The types and reasons of all conditions (sriov-operator.md A.8, K.1). Each is a complete string in this file, so a
 * search for it finds it.
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
   * On SriovNetworkNodeStates whose daemon has requested a drain: True while pods are being evicted, False while the
   * node waits to be drained.
   */
  drainProgressing: "DrainProgressing",
  /**
   * On SriovNetworkNodeStates whose daemon has requested a drain: the drain takes long because pods stay, or the node
   * is drained but its daemon does not continue. On the SriovOperatorConfig: the same for nodes that are in no pool.
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
  /** On all kinds of this API group: a controller of the operator failed to reconcile the object; absent otherwise. */
  reconcileFailed: "ReconcileFailed",
  /** On SriovNetworkNodeStates: the node's device plugin offers all resources of the spec. */
  devicePluginConfigured: "DevicePluginConfigured",
  /** On the SriovOperatorConfig, if --write-configmap is set: the ConfigMap in upstream's format contains all nodes. */
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
   * On SriovOperatorConfigs and AfxdpOperatorConfigs: nodes keep their configuration although no policy requests it, because the
   * policies may have been lost and not deleted; absent otherwise.
   */
  resetHeld: "ResetHeld",
  /**
   * On the SriovOperatorConfig: OVN of all hosts that spec.ovnHardwareOffload selects runs on their SmartNIC. Absent if nothing
   * is selected and nothing is left to restore. Written by the service ovn-offload.
   */
  hardwareOffload: "HardwareOffload",
  /**
   * On each pool in the status of spec.ovnHardwareOffload: pods on the pool's hosts cannot start, because they need an
   * interface of Open vSwitch, and have no network with a VF as default network.
   */
  podsWaiting: "PodsWaiting",
} as const;

/** Reasons of conditions on SriovNetworkNodeStates, written by the node's config daemon. */
export const nodeStateReasons = {
  /** The node is configured according to its spec. */
  configured: "Configured",
  /** The node is being configured. */
  configuring: "Configuring",
  /** The daemon has requested a drain and waits for it. */
  waitingForDrain: "WaitingForDrain",
  /** The daemon reboots the node. */
  rebooting: "Rebooting",
  /** The node does not support a part of the spec. */
  notPossible: "NotPossible",
  /**
   * The mode of a SmartNIC was changed, and the host must be switched off and on again. Everything else in the spec that the
   * node supports is configured.
   */
  powerCycleRequired: "PowerCycleRequired",
  /** A configuration step failed; lastSyncError has the error. */
  stepFailed: "StepFailed",
  /**
   * A configuration step has been running for minutes and hangs in the kernel. Other PFs are configured nevertheless.
   */
  stepHangs: "StepHangs",
  /** The daemon could not read the node's hardware. */
  discoveryFailed: "DiscoveryFailed",
  /**
   * The daemon could not finish its work, because the API server rejected a request or because of a bug. It retries.
   */
  passFailed: "PassFailed",
} as const;

/** Reasons of the condition WaitingForLock, written by the config daemon that waits. */
export const waitingForLockReasons = {
  /** The message names the process that holds the lock, or the problem with the lock file. */
  lockNotFree: "LockNotFree",
} as const;

/** Reasons of the condition ReconcileFailed, written by the operator. */
export const reconcileFailedReasons = {
  /** The operator retries; the message has the error. */
  retrying: "Retrying",
} as const;

/** Reasons of the three drain conditions on SriovNetworkNodeStates, and of DrainDegraded on the SriovOperatorConfig. */
export const drainReasons = {
  /** The maximum number of nodes of the node's pool is being drained. */
  waitingForSlot: "WaitingForSlot",
  /** The maxUnavailable of the node's pool allows no drains. */
  heldByPool: "HeldByPool",
  /** OpenShift is updating the node's MachineConfigPool. */
  waitingForMachineConfigPool: "WaitingForMachineConfigPool",
  /** The drain has started, and the operator is looking for the pods to evict. */
  lookingForPods: "LookingForPods",
  /** Pods are being evicted. */
  evictingPods: "EvictingPods",
  /** Some pods have not left the node for a long time. */
  podsStay: "PodsStay",
  /** All pods that use VFs have left the node. Other pods stay. */
  vfPodsGone: "VfPodsGone",
  /** All evictable pods have left the node. */
  allPodsGone: "AllPodsGone",
  /** The node is drained and counts against maxUnavailable, but its daemon does not continue. */
  daemonStalled: "DaemonStalled",
  /** On the SriovOperatorConfig: nodes in no pool are being drained without problems. */
  draining: "Draining",
  /** The only node of the cluster is not drained before it reboots, because its pods could not run anywhere else. */
  onlyNode: "OnlyNode",
} as const;

/** Reasons of conditions on SriovNetworkNodePolicies and SriovNetworkPoolConfigs, written by the operator. */
export const policyReasons = {
  /** All matched nodes are configured. */
  configured: "Configured",
  /** Some matched nodes are not configured yet. */
  configuring: "Configuring",
  /** nodeSelector selects no node that runs the config daemon. */
  noNodes: "NoNodesMatched",
  /** nicSelector matches no NIC of the selected nodes. */
  noNics: "NoNicsMatched",
  /** The policy is invalid for at least one node. */
  invalid: "Invalid",
  /** The configuration of at least one matched node has failed. */
  nodesFailed: "NodesFailed",
  /** A drained node of the pool counts against maxUnavailable, but its daemon does not continue. */
  daemonStalled: "DaemonStalled",
  /** Another pool selects some of the same nodes. */
  overlap: "Overlap",
  /** The policy has the name "default" and is ignored. */
  ignored: "Ignored",
  /** The SriovOperatorConfig "default" does not exist, so no node is managed. */
  noOperatorConfig: "NoOperatorConfig",
} as const;

/** Reasons of conditions on the SriovOperatorConfig, written by the operator. The first three are upstream's. */
export const operatorConfigReasons = {
  /** All components are deployed as configured. */
  ready: "OperatorConfigReady",
  /** The components are deployed, but an admission webhook has replaced fields of them; the message names the fields. */
  fieldsReplaced: "FieldsReplaced",
  /**
   * The API server rejected an object, or another field manager undoes each change of it; the message has the error, or the manager
   * and the field. The operator retries.
   */
  syncFailed: "OperatorConfigSyncFailed",
  /** The config has a setting that the operator cannot apply. */
  unsupported: "UnsupportedConfiguration",
  /**
   * Pods are being replaced or are not available; the message has their numbers. The config may be Ready at the same
   * time.
   */
  rollingOut: "RollingOut",
} as const;

/** Reasons of conditions on networks of all kinds, written by the operator. All of them are upstream's. */
export const networkReasons = {
  /** The NetworkAttachmentDefinition exists and is up to date. */
  ready: "NetworkReady",
  /**
   * The network is invalid, or a NetworkAttachmentDefinition of the same name belongs to someone else; the message says
   * what to do.
   */
  invalid: "NetworkAttachmentDefinitionInvalid",
  /**
   * The NetworkAttachmentDefinition does not exist: the API server rejected it, does not know the kind (Multus is not
   * installed), or an old one is still being deleted.
   */
  notFound: "NetworkAttachmentDefinitionNotFound",
  /** The namespace in spec.networkNamespace does not exist. The operator continues as soon as it exists. */
  namespaceNotFound: "NamespaceNotFound",
  /** Another field manager undoes each change of the NetworkAttachmentDefinition; the message names it and the field. */
  contested: "FieldsContested",
  /** The NetworkAttachmentDefinition exists, but an admission webhook has replaced fields of it; the message names the fields. */
  replaced: "FieldsReplaced",
} as const;

/** Reasons of the condition DevicePluginConfigured, written by the sidecar of the node's device plugin. */
export const devicePluginReasons = {
  /** Each resource has all its VFs. */
  configured: "Configured",
  /** VFs are being created, or are about to be created again. */
  configuring: "Configuring",
  /** VFs do not exist, and no process is creating them. */
  vfsMissing: "VfsMissing",
  /** Pods have VFs as devices of another resource, or this is not known. The VFs are offered when the pods have ended. */
  vfsHeld: "VfsHeld",
  /** The device plugin does not support the settings of a resource. */
  notPossible: "NotPossible",
  /** The plugin's configuration file could not be written, or the plugin could not be restarted. */
  notApplied: "NotApplied",
} as const;

/** Reasons of the condition DevicePluginConfigMap, written by the operator. */
export const devicePluginConfigMapReasons = {
  /** The ConfigMap is up to date. */
  written: "Written",
  /** The ConfigMap would exceed the size limit of the API server, so it was not updated. */
  tooLarge: "TooLarge",
  /** The format of the ConfigMap cannot express the settings of some resources. */
  notPossible: "NotPossible",
  /** The API server rejected the ConfigMap; the message has the error. */
  refused: "Refused",
} as const;

/** Reasons of the condition ResetHeld on SriovOperatorConfigs and AfxdpOperatorConfigs, written by the operator. */
export const resetHeldReasons = {
  /** The namespace of the policies is being deleted. */
  namespaceTerminating: "NamespaceTerminating",
  /** The CustomResourceDefinition of the policies is being deleted. */
  definitionTerminating: "DefinitionTerminating",
  /** The CustomResourceDefinition of the policies does not exist. */
  definitionMissing: "DefinitionMissing",
  /**
   * The namespace or the CustomResourceDefinition of the policies was created less than five minutes ago, after the nodes were
   * configured. The message says when nodes without policies are reset.
   */
  restorePending: "RestorePending",
} as const;

/** Reasons of the conditions InjectorCertificate and WebhookCertificate, written by the operator. */
export const certificateReasons = {
  /** The certificate is valid and trusted by the API server. */
  valid: "Valid",
  /**
   * The certificate has expired or is not valid yet, for example because it was issued while the clock of a host was ahead.
   * The operator replaces it.
   */
  notValidNow: "NotValidNow",
  /** The Secret has a certificate that the operator did not create. The operator does not change it. */
  foreignSecret: "ForeignSecret",
  /**
   * The API server rejected the Secret or the webhook configuration; the message has the error. The operator retries.
   */
  refused: "Refused",
} as const;
