// SPDX-License-Identifier: Apache-2.0
export {
  certificateReasons,
  conditionTypes,
  devicePluginConfigMapReasons,
  devicePluginReasons,
  drainReasons,
  networkReasons,
  nodeStateReasons,
  reconcileFailedReasons,
  waitingForLockReasons,
  operatorConfigReasons,
  policyReasons,
} from "./condition-types.ts";
export type {
  ObjectMeta,
  OwnerReference,
  Condition,
  LabelSelector,
  LabelSelectorRequirement,
  NodeCounts,
  ObjectStatus,
  ResourceType,
  WithMetadata,
} from "./metadata.ts";
export type { CustomResource, PrinterColumn } from "./custom-resource.ts";
export { customResources } from "./custom-resources.ts";
export type { StructuralSchema, ValidationRule } from "./structural-schema.ts";
export { schemas } from "./schemas.gen.ts";
export { namespaces, type Namespace } from "./namespace.ts";
export { nodes, type Node, type Taint } from "./node.ts";
export { resourceClaims, resourceSlices } from "./device-allocation.ts";
export { networkAttachmentDefinitions, type NetworkAttachmentDefinition } from "./network-attachment-definition.ts";
export {
  apiGroup,
  apiVersion,
  operatorConfigName,
  labels,
  annotations,
  taints,
  upstreamFinalizers,
  daemonManager,
  upstreamDaemonManager,
  upstreamManager,
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
  type PolicyLinuxBridge,
  type PolicyOvsBridge,
  type PolicyOvsUplink,
  type SriovNetworkNodePolicyStatus,
} from "./sriov-network-node-policy.ts";
export type { OvsBridgeConfig, OvsInterfaceConfig } from "./ovs-bridge.ts";
export type { LinuxBridgeConfig, LinuxUplinkConfig } from "./linux-bridge.ts";
export {
  sriovNetworkNodeStates,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
  type InterfaceSpec,
  type VfGroup,
  type Bridges,
  type OvsBridge,
  type OvsUplink,
  type LinuxBridge,
  type LinuxUplink,
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
  type DrainingNode,
} from "./sriov-network-pool-config.ts";
export {
  sriovOperatorConfigs,
  type SriovOperatorConfig,
  type SriovOperatorConfigSpec,
  type SriovOperatorConfigStatus,
} from "./sriov-operator-config.ts";
export type { NetworkSpec, TrunkRange } from "./network-spec.ts";
export { sriovNetworks, type SriovNetwork, type SriovNetworkSpec } from "./sriov-network.ts";
export { sriovIBNetworks, type SriovIBNetwork, type SriovIBNetworkSpec } from "./sriov-ib-network.ts";
export { ovsNetworks, type OVSNetwork, type OVSNetworkSpec } from "./ovs-network.ts";
export { bridgeNetworks, type BridgeNetwork, type BridgeNetworkSpec } from "./bridge-network.ts";
export { ok, err, type Result } from "./result.ts";
export { defined, type Defined } from "./defined.ts";
export { parsePciAddress, type PciAddress, type PciAddressProblem } from "./pci-address.ts";
export { parseMacAddress, isUnicast, type MacAddress, type MacAddressProblem } from "./mac-address.ts";
export { isUpstreamUnit, upstreamUnitProgram, upstreamUnits } from "./upstream-units.ts";
