// SPDX-License-Identifier: Apache-2.0
/**
 * fieldManagers lists the field managers of the operator's writers, one for each controller. They must not change
 * between releases.
 */
export const fieldManagers = {
  nodeState: "switchyard-node-state",
  /** Of status.programs of AfxdpNetworkNodeStates, and of the objects of bpfman. */
  bpfmanPrograms: "switchyard-bpfman",
  policyStatus: "switchyard-policy-status",
  poolStatus: "switchyard-pool-status",
  drain: "switchyard-drain",
  networks: "switchyard-networks",
  deviceClasses: "switchyard-device-classes",
  components: "switchyard-components",
  hardwareOffload: "switchyard-hardware-offload",
  /** One for each condition, because an apply removes the fields that its manager owned before and no longer sends. */
  injectorCertificate: "switchyard-certificates",
  webhookCertificate: "switchyard-webhook-certificate",
  devicePluginConfigMap: "switchyard-device-plugin-configmap",
  resetHeld: "switchyard-reset-held",
  defaultPoolStatus: "switchyard-default-pool-status",
  operatorConfigStatus: "switchyard-operator-config",
  /** Of the command `operator crds apply`. */
  crds: "switchyard-crds",
  /** Of the command `operator uninstall`. */
  uninstall: "switchyard-uninstall",
  /** For the condition ReconcileFailed on objects of all kinds. */
  failures: "switchyard-operator-failures",
} as const;
