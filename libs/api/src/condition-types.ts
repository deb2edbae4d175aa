// SPDX-License-Identifier: Apache-2.0
/**
 * Condition types and reasons, each whole in this one place so that a search finds it (sriov-operator.md A.8, K.1).
 */

export const conditionTypes = {
  /** All that is asked for is there. Of SriovOperatorConfigs: it is deployed, whatever its pods do on single nodes. */
  ready: "Ready",
  /** Work is under way, or waits for something that will come. */
  progressing: "Progressing",
  /** Something failed and needs a person. */
  degraded: "Degraded",
  /** On SriovNetworkNodeStates of nodes for which a drain is asked: pods are leaving; while it is False, it waits. */
  drainProgressing: "DrainProgressing",
  /**
   * On the same: the drain takes long, and somebody should look at the pods that stay; or the node is drained, and its daemon
   * does not go on. On SriovOperatorConfig, while nodes in no pool are drained: the same of them.
   */
  drainDegraded: "DrainDegraded",
  /** On the same: the pods are gone, the daemon may act. */
  drainComplete: "DrainComplete",
  /** On SriovNetworkNodeStates: a config daemon waits, since another process has the node's lock; absent otherwise. */
  waitingForLock: "WaitingForLock",
  /** On all kinds of ours: a controller of the operator could not do its work on the object; absent otherwise. */
  reconcileFailed: "ReconcileFailed",
  /** On SriovNetworkNodeStates: the node's device plugin hands out what the spec asks for. */
  devicePluginConfigured: "DevicePluginConfigured",
  /** On SriovOperatorConfig, where it is asked for: the ConfigMap in upstream's format has all nodes. */
  devicePluginConfigMap: "DevicePluginConfigMap",
  /** On SriovOperatorConfig, where the operator makes it: the network resources injector has a certificate that is trusted. */
  injectorCertificate: "InjectorCertificate",
  /** On SriovOperatorConfig, where the operator makes it: the admission webhook has a certificate that is trusted. */
  webhookCertificate: "WebhookCertificate",
} as const;

/** Reasons on SriovNetworkNodeStates, written by the node's daemon. */
export const nodeStateReasons = {
  configured: "Configured",
  configuring: "Configuring",
  waitingForDrain: "WaitingForDrain",
  /** The spec asks for what the node cannot give. */
  notPossible: "NotPossible",
  /** The host refused a step; lastSyncError has its words. */
  stepFailed: "StepFailed",
  /** A step has not ended for minutes: it hangs in the kernel. Other PFs go on. */
  stepHangs: "StepHangs",
  /** The hardware could not be read. */
  discoveryFailed: "DiscoveryFailed",
  /** The daemon could not do its work at all: the API server refused something, or there is a bug. It is tried again. */
  passFailed: "PassFailed",
} as const;

/** Reasons of WaitingForLock, written by the daemon that waits. */
export const waitingForLockReasons = {
  /** The message says which process has the lock, or what is wrong with its file. */
  lockNotFree: "LockNotFree",
} as const;

/** Reasons of ReconcileFailed, written by the operator. */
export const reconcileFailedReasons = {
  /** The message has the error's words. */
  retrying: "Retrying",
} as const;

/** Reasons of the three drain conditions on SriovNetworkNodeStates, and of DrainDegraded on SriovOperatorConfig. */
export const drainReasons = {
  /** The node's pool drains as many nodes as it may. */
  waitingForSlot: "WaitingForSlot",
  /** The node's pool lets no node be drained until somebody changes it. */
  heldByPool: "HeldByPool",
  /** OpenShift is updating the node's MachineConfigPool. */
  waitingForMachineConfigPool: "WaitingForMachineConfigPool",
  /** The drain has begun; the node's pods are not known yet. */
  lookingForPods: "LookingForPods",
  /** Pods are being evicted. */
  evictingPods: "EvictingPods",
  /** Some of them have been staying for long. */
  podsStay: "PodsStay",
  /** Pods that hold VFs are gone. Others stay. */
  vfPodsGone: "VfPodsGone",
  /** All pods are gone that can go. */
  allPodsGone: "AllPodsGone",
  /** The node is drained, keeps its slot, and its daemon does not go on. */
  daemonStalled: "DaemonStalled",
  /** On SriovOperatorConfig: nodes in no pool are drained, and go on. */
  draining: "Draining",
  /** The cluster's only node is not drained before it reboots: its pods have nowhere to go. */
  onlyNode: "OnlyNode",
} as const;

/** Reasons on SriovNetworkNodePolicies and SriovNetworkPoolConfigs, written by the operator. */
export const policyReasons = {
  /** All matched nodes are configured. */
  configured: "Configured",
  /** Some matched nodes are not configured yet. */
  configuring: "Configuring",
  /** nodeSelector selects no node of the node set. */
  noNodes: "NoNodesMatched",
  /** No NIC of the selected nodes matches nicSelector. */
  noNics: "NoNicsMatched",
  /** The policy is wrong on at least one node. */
  invalid: "Invalid",
  /** At least one matched node failed. */
  nodesFailed: "NodesFailed",
  /** A drained node of the pool keeps its slot, and its daemon does not go on. */
  daemonStalled: "DaemonStalled",
  /** Another pool selects some of the same nodes. */
  overlap: "Overlap",
  /** The policy named "default", which is never applied. */
  ignored: "Ignored",
  /** There is no SriovOperatorConfig "default": nothing is managed. */
  noOperatorConfig: "NoOperatorConfig",
} as const;

/** Reasons on SriovOperatorConfigs, written by the operator; the first three are upstream's. */
export const operatorConfigReasons = {
  /** All that it asks for is deployed as configured. */
  ready: "OperatorConfigReady",
  /** The API server refused something; the message says what. It is tried again. */
  syncFailed: "OperatorConfigSyncFailed",
  /** It asks for what there is not. */
  unsupported: "UnsupportedConfiguration",
  /** Pods are still being replaced, or are not available; the message has their counts. Also beside Ready. */
  rollingOut: "RollingOut",
} as const;

/** Reasons on networks of all kinds, written by the operator; all of them are upstream's. */
export const networkReasons = {
  /** The NetworkAttachmentDefinition is there, and as asked. */
  ready: "NetworkReady",
  /** None can be made of the spec, or one that is somebody else's has its place; the message says what to do. */
  invalid: "NetworkAttachmentDefinitionInvalid",
  /** It is not there: the API server refuses it, knows no such kind (Multus is not installed), or an old one still goes. */
  notFound: "NetworkAttachmentDefinitionNotFound",
  /** spec.networkNamespace names a namespace that there is not. It is made as soon as the namespace is there. */
  namespaceNotFound: "NamespaceNotFound",
} as const;

/** Reasons of DevicePluginConfigured, written by what configures the device plugin on the node. */
export const devicePluginReasons = {
  /** Each resource has all its VFs. */
  configured: "Configured",
  /** VFs are being made, or are about to be made anew. */
  configuring: "Configuring",
  /** VFs do not exist, and nobody is at it. */
  vfsMissing: "VfsMissing",
  /** The device plugin cannot hand out a resource as it is asked for. */
  notPossible: "NotPossible",
  /** The plugin's file could not be written, or the plugin could not be told. */
  notApplied: "NotApplied",
} as const;

/** Reasons of DevicePluginConfigMap, written by the operator. */
export const devicePluginConfigMapReasons = {
  written: "Written",
  /** It would be larger than the API server takes; it stays as it was. */
  tooLarge: "TooLarge",
  /** Some resources cannot be selected as they are asked for. */
  notPossible: "NotPossible",
  /** The API server refused it; the message has its words. */
  refused: "Refused",
} as const;

/** Reasons of InjectorCertificate and WebhookCertificate, written by the operator. */
export const certificateReasons = {
  valid: "Valid",
  /** The Secret has a certificate that somebody else made. It is left alone. */
  foreignSecret: "ForeignSecret",
  /** The API server refused the Secret or the announcement; the message has its words. It is tried again. */
  refused: "Refused",
} as const;
