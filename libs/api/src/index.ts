// SPDX-License-Identifier: Apache-2.0
/**
 * The API of Switchyard: its kinds with their schemas, names and conditions, and the Kubernetes types and values that
 * they use.
 */
export {
  certificateReasons,
  conditionTypes,
  devicePluginConfigMapReasons,
  devicePluginReasons,
  drainReasons,
  networkReasons,
  nodeStateReasons,
  reconcileFailedReasons,
  rolledBackReasons,
  vfsUnhealthyReasons,
  waitingForLockReasons,
  operatorConfigReasons,
  policyReasons,
  hardwareOffloadReasons,
  podsWaitingReasons,
  resetHeldReasons,
} from "./condition-types.ts";
export { eventReasons, type EventReason } from "./event-reasons.ts";
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
} from "./kubernetes/metadata.ts";
export type { CustomResource, PrinterColumn } from "./kinds/custom-resource.ts";
export { afxdpResources, customResources, sriovResources, type Kinds } from "./kinds/custom-resources.ts";
export {
  type StructuralSchema,
  type ValidationRule,
  customResourceDefinitions,
  type CustomResourceDefinition,
  type CustomResourceVersion,
} from "./kubernetes/custom-resource-definition.ts";
export { schemas } from "./schemas.gen.ts";
export {
  configMaps,
  pods,
  namespaces,
  type Namespace,
  nodes,
  type Node,
  type Taint,
} from "./kubernetes/built-in-kinds.ts";
export {
  deviceClasses,
  resourceClaims,
  resourceSlices,
  type Device,
  type DeviceAttribute,
  type DeviceClass,
  type DeviceTaint,
  type ResourceSlice,
} from "./kubernetes/dynamic-resources.ts";
export {
  clusterVersions,
  dnses,
  machineConfigPools,
  machineConfigs,
  type MachineConfigPool,
  type MachineConfigPoolSpec,
  type MachineConfigPoolStatus,
  type RenderedConfiguration,
} from "./kubernetes/openshift.ts";
export {
  networkAttachmentDefinitions,
  type NetworkAttachmentDefinition,
  bpfmanApiVersion,
  bpfPrograms,
  clusterBpfApplications,
  clusterBpfApplicationStates,
  xdpPrograms,
  type ClusterBpfApplication,
  type XdpProgram,
} from "./kubernetes/third-party-kinds.ts";
export {
  afxdpApiGroup,
  afxdpApiVersion,
  afxdpPluginManager,
  afxdpPluginRecord,
  afxdpResourcePrefix,
  apiGroup,
  apiVersion,
  bpfmanProgram,
  bpfmanProgramDirectory,
  draDriverName,
  operatorConfigName,
  ownAfxdpCni,
  upstreamDeviceDirectory,
  xskMapDirectory,
  labels,
  annotations,
  taints,
  upstreamFinalizers,
  daemonManager,
  upstreamDaemonManager,
  upstreamManager,
  drainAnswers,
  drainRequests,
  type DrainAnswer,
  type DrainNeed,
  type DrainRequest,
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
} from "./kinds/sriov-network-node-policy.ts";
export type {
  CardMode,
  CardModeStatus,
  FirmwareFlag,
  FirmwareInitial,
  FirmwareNumber,
  FirmwareStatus,
  FirmwareText,
} from "./kinds/card-status.ts";
export type { OvnHardwareOffload, OvnHardwareOffloadStatus, OvnOffloadNode } from "./kinds/ovn-hardware-offload.ts";
export type { OvsBridgeConfig, OvsInterfaceConfig, LinuxBridgeConfig, LinuxUplinkConfig } from "./kinds/bridges.ts";
export {
  sriovNetworkNodeStates,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
  type InterfaceSpec,
  type VfGroup,
  type Bridges,
  type OvsBridge,
  type OvsUplink,
  type OpenVSwitchFiles,
  type OpenVSwitchStatus,
  type OtherOvsBridge,
  type LinuxBridge,
  type LinuxUplink,
  type KernelStatus,
  type RebootStatus,
  type SystemSettings,
  type HoldersStatus,
  type UncleanSetting,
  type UncleanVf,
  type VfClaim,
  type VfHolder,
  type HostNetworkStatus,
  type SystemStatus,
  type SriovNetworkNodeStateStatus,
  type InterfaceStatus,
  type FewerVfs,
  type RefusedChange,
  type RolledBackChange,
  type VfStatus,
} from "./kinds/sriov-network-node-state.ts";
export {
  sriovNetworkPoolConfigs,
  type OvsHardwareOffloadConfig,
  type SriovNetworkPoolConfig,
  type SriovNetworkPoolConfigSpec,
  type SriovNetworkPoolConfigStatus,
  type DrainingNode,
} from "./kinds/sriov-network-pool-config.ts";
export {
  sriovOperatorConfigs,
  type SriovOperatorConfig,
  type SriovOperatorConfigSpec,
  type SriovOperatorConfigStatus,
} from "./kinds/sriov-operator-config.ts";
export type { NetworkSpec, TrunkRange } from "./kinds/network-spec.ts";
export { sriovNetworks, type SriovNetwork, type SriovNetworkSpec } from "./kinds/sriov-network.ts";
export { sriovIBNetworks, type SriovIBNetwork, type SriovIBNetworkSpec } from "./kinds/sriov-ib-network.ts";
export { ovsNetworks, type OVSNetwork, type OVSNetworkSpec } from "./kinds/ovs-network.ts";
export { bridgeNetworks, type BridgeNetwork, type BridgeNetworkSpec } from "./kinds/bridge-network.ts";
export { afxdpNetworks, type AfxdpNetwork, type AfxdpNetworkSpec } from "./kinds/afxdp/afxdp-network.ts";
export type { AfxdpMode, AfxdpPoolSettings } from "./kinds/afxdp/afxdp-pool.ts";
export {
  afxdpNetworkNodePolicies,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodePolicySpec,
  type AfxdpNetworkNodePolicyStatus,
  type AfxdpNicSelector,
} from "./kinds/afxdp/afxdp-network-node-policy.ts";
export {
  afxdpNetworkNodeStates,
  type AfxdpBpfmanStatus,
  type AfxdpInterfaceSpec,
  type AfxdpInterfaceStatus,
  type AfxdpLoadedProgram,
  type AfxdpNetworkNodeState,
  type AfxdpNetworkNodeStateSpec,
  type AfxdpNetworkNodeStateStatus,
  type AfxdpPoolSpec,
  type AfxdpPoolStatus,
  type AfxdpProgramStatus,
  type AfxdpRepresentorStatus,
  type AfxdpSubfunctionStatus,
  type AfxdpXdpStatus,
} from "./kinds/afxdp/afxdp-network-node-state.ts";
export {
  afxdpOperatorConfigs,
  type AfxdpBpfmanImage,
  type AfxdpBpfmanProgram,
  type AfxdpBpfmanSettings,
  type AfxdpLoader,
  type AfxdpOperatorConfig,
  type AfxdpOperatorConfigSpec,
  type AfxdpProvider,
} from "./kinds/afxdp/afxdp-operator-config.ts";
export { parseLimitedJson } from "./values/limited-json.ts";
export { ok, err, type Result, defined, type Defined } from "./values/result.ts";
export { isUserSpaceDriver } from "./values/user-space-drivers.ts";
export {
  isInterfaceName,
  parsePciAddress,
  withoutFunction,
  type PciAddress,
  type PciAddressProblem,
  parseMacAddress,
  isUnicast,
  type MacAddress,
  type MacAddressProblem,
  parseGuid,
  type Guid,
  type GuidProblem,
} from "./values/addresses.ts";
export {
  bootConfigPath,
  bootFileHeader,
  bootPhaseLimitMs,
  bootUnits,
  isOwnBootFile,
  machineConfigBootUnits,
  type BootUnit,
  isUpstreamUnit,
  upstreamUnitProgram,
  upstreamUnits,
} from "./boot-units.ts";
