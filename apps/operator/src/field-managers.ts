// SPDX-License-Identifier: Apache-2.0
/** Field managers of the operator's writers, one for each controller, the same over all releases. */
export const fieldManagers = {
  nodeState: "switchyard-node-state",
  policyStatus: "switchyard-policy-status",
  poolStatus: "switchyard-pool-status",
  drain: "switchyard-drain",
  networks: "switchyard-networks",
  components: "switchyard-components",
  hardwareOffload: "switchyard-hardware-offload",
  /** One for each condition: a manager's next apply takes away what it leaves out. */
  injectorCertificate: "switchyard-certificates",
  webhookCertificate: "switchyard-webhook-certificate",
  devicePluginConfigMap: "switchyard-device-plugin-configmap",
  defaultPoolStatus: "switchyard-default-pool-status",
  operatorConfigStatus: "switchyard-operator-config",
  /** Of condition ReconcileFailed, on objects of all kinds. */
  failures: "switchyard-operator-failures",
} as const;
