// SPDX-License-Identifier: Apache-2.0
/** A cluster for tests, the demo and the benchmarks: a real API server with Switchyard's processes. */
export {
  certificateFlags,
  issueWebhookCertificate,
  registerWebhooks,
  startWebhook,
  webhookConfiguration,
  writeWebhookCertificate,
} from "./admission.ts";
export {
  applyNetwork,
  applyPolicy,
  createNode,
  createOperatorConfig,
  enableFeatureGate,
  policySpec,
} from "./cluster-objects.ts";
export { confirmReset, type ConfigAccess } from "./confirm-reset.ts";
export { dashboardExpressions, readPanels, type Panel } from "./dashboard.ts";
export { simulateKubelets, startPod, type KubeletOptions, type PodChange } from "./nodes/fake-kubelet.ts";
export {
  openshiftCrds,
  simulateMachineConfigOperator,
  type MachineConfigOperatorOptions,
  type SimulatedMachineConfigOperator,
} from "./machine-config-operator/simulate-machine-config-operator.ts";
export { mergeMachineConfigs, type MergedMachineConfig } from "./machine-config-operator/merge-machine-configs.ts";
export { keepNodesReady } from "./nodes/node-heartbeats.ts";
export { createNarrator, silentNarrator, type Narrator } from "./narrator.ts";
export { logNodeChanges, type NodeLog, eachNode, policyIs, waitFor } from "./node-log.ts";
export { claimNamesOf, createPodWriter, type PodOnNode, type PodWriter } from "./nodes/pods-on-node.ts";
export { startVfNode, type VfNode } from "./nodes/vf-node.ts";
export { namespace, startTestCluster, type TestCluster } from "./test-cluster.ts";
