// SPDX-License-Identifier: Apache-2.0
export { conditionTypes, nodeStateReasons, policyReasons } from "./condition-types.ts";
export type {
  ObjectMeta,
  OwnerReference,
  Condition,
  LabelSelector,
  LabelSelectorRequirement,
  NodeCounts,
  ObjectStatus,
  ResourceType,
} from "./metadata.ts";
export type { CustomResource, PrinterColumn } from "./custom-resource.ts";
export { customResources } from "./custom-resources.ts";
export type { StructuralSchema, ValidationRule } from "./structural-schema.ts";
export { schemas } from "./schemas.gen.ts";
export { nodes, type Node } from "./node.ts";
export {
  apiGroup,
  apiVersion,
  operatorConfigName,
  labels,
  annotations,
  type DrainRequest,
  type DrainAnswer,
} from "./names.ts";
export {
  sriovNetworkNodePolicies,
  type DeviceType,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodePolicySpec,
  type NicSelector,
  type PolicyBridge,
  type PolicyOvsBridge,
  type PolicyOvsUplink,
  type SriovNetworkNodePolicyStatus,
} from "./sriov-network-node-policy.ts";
export type { OvsBridgeConfig, OvsInterfaceConfig } from "./ovs-bridge.ts";
export {
  sriovNetworkNodeStates,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
  type InterfaceSpec,
  type VfGroup,
  type Bridges,
  type OvsBridge,
  type OvsUplink,
  type SystemSettings,
  type SriovNetworkNodeStateStatus,
  type InterfaceStatus,
  type VfStatus,
} from "./sriov-network-node-state.ts";
export {
  sriovNetworkPoolConfigs,
  type OvsHardwareOffloadConfig,
  type SriovNetworkPoolConfig,
  type SriovNetworkPoolConfigSpec,
  type SriovNetworkPoolConfigStatus,
} from "./sriov-network-pool-config.ts";
export {
  sriovOperatorConfigs,
  type SriovOperatorConfig,
  type SriovOperatorConfigSpec,
  type SriovOperatorConfigStatus,
} from "./sriov-operator-config.ts";
export { ok, err, type Result } from "./result.ts";
export { parsePciAddress, type PciAddress, type PciAddressProblem } from "./pci-address.ts";
export { parseMacAddress, isUnicast, type MacAddress, type MacAddressProblem } from "./mac-address.ts";
