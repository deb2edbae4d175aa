// SPDX-License-Identifier: Apache-2.0
/**
 * Pure functions that decide what the objects of a cluster mean for its nodes: node set, matching NICs, VF groups,
 * pools, which VFs a pod uses, and which pods a drain evicts.
 */
export { createRules, type RuleSources, type Rules } from "./merge/rules.ts";
export { mergePolicies, policiesSelecting, type MergedNode, type PolicyMatch } from "./merge/merge-policies.ts";
export { bridgeNameOf, isPfBridgeName } from "./merge/bridges.ts";
export {
  describeDifference,
  settingDifferences,
  type ResourceSetting,
  type SettingDifference,
} from "./merge/resource-settings.ts";
export type { PolicyProblem, PolicyProblemCode } from "./policy-problem.ts";
export { priorityOf, compareText } from "./order.ts";
export type { CompiledPolicy } from "./merge/compiled-policy.ts";
export { isInNodeSet, nodeSetLabels, hasLabels, labelsOf, labelsProblem, type Labels } from "./nodes/label-selector.ts";
export { describeEmptySelector, isEmptyLabelSelector, isEmptySelector } from "./nodes/empty-selector.ts";
export { nodeStateSpec, type StoredNodeState, afxdpNodeStateSpec } from "./merge/node-state-spec.ts";
export { parseStaleDelayMs, staleStateAction, type StaleStateAction } from "./nodes/stale-state.ts";
export { couldMatchNic, isEmptyNicSelector, isNameOf, matchesNic, sameNetFilter } from "./nics/nic-selector.ts";
export {
  adviceOnExcludedNics,
  defaultNicPolicy,
  isListedNic,
  unlistedNics,
  type NicPolicy,
} from "./nics/nic-policy.ts";
export { nearestName } from "./nics/nearest-name.ts";
export {
  describeBroadSelector,
  describeIdleEntry,
  describeNearest,
  idleEntries,
  nearestNic,
  type IdleEntry,
  type NearestNic,
  type SelectableNic,
  type SelectorFields,
} from "./nics/selection-report.ts";
export { maxPfs, statusPfs, withOwnership } from "./nics/status-pfs.ts";
export { parseNicRow, supportedNics, type NamedNic, type SupportedNic } from "./nics/supported-nics.ts";
export { parsePfName, pfNameOf, type PfName, type PfNameProblem } from "./nics/pf-name.ts";
export {
  allVfs,
  formatVfRange,
  countVfsIn,
  includesVf,
  upToVf,
  overlaps,
  parseVfRange,
  type VfRange,
  type VfRangeProblem,
} from "./vfs/vf-range.ts";
export { addVfs, coversVfs, drainedVfs, formatVfSet, hasVf, type VfSet } from "./vfs/vf-set.ts";
export { holderOf, type HeldVfs } from "./vfs/vf-holder.ts";
export {
  isHardwareOffloadPool,
  type CompiledPool,
  type PoolProblem,
  parseMaxUnavailable,
  type MaxUnavailableProblem,
} from "./pools/compiled-pool.ts";
export {
  allocationOf,
  decideOffer,
  mayBegin,
  mayHandOver,
  type Allocator,
  type NodeAllocation,
  type ObservedOffer,
  type OfferProblem,
} from "./allocation/vf-offer.ts";
export {
  allocatorFor,
  noClaims,
  drainsByDevice,
  poolOverlaps,
  poolsSelecting,
  rdmaModeOf,
  type RdmaMode,
} from "./pools/pools.ts";
export {
  checkDaemonVariable,
  connectivityTimeoutText,
  stateDirectory,
  type DaemonVariableUse,
} from "./config/daemon-variables.ts";
export {
  firmwareDisabledReason,
  firmwarePolicyOf,
  type FirmwarePolicy,
  featureGateDefaults,
  isGateOn,
  type FeatureGate,
} from "./config/feature-gates.ts";
export { createDeviceLookup, publishesNics, type DeviceSources, type PlacedPod } from "./pods/device-lookup.ts";
export {
  indexSlices,
  readAllocation,
  readSlice,
  type AllocatedDevice,
  type DeviceSlice,
} from "./pods/allocated-devices.ts";
export { podUse, type DeviceLookup, type PodUse } from "./pods/pod-use.ts";
export {
  managedPfs,
  withClaimedVfs,
  type ClaimSources,
  toDrainedPod,
  type DrainedPod,
  selectPods,
  type PodSelection,
} from "./pods/drained-pod.ts";
export { hasOtherUsers, holdersOf, selectHolderPods, type FoundHolders, type VfHolderPod } from "./pods/holder-pods.ts";
export { at, listAt } from "./pods/json-parts.ts";
export { readPodDevices, type PodDevices } from "./pods/pod-devices.ts";
export { networksAnnotation, parsePodNetworks, type PodNetwork } from "./pods/pod-networks.ts";
export { toPfAddresses, type PfAddresses } from "./pods/pf-addresses.ts";
export {
  smartNicModels,
  type SmartNicModel,
  managementPf,
  smartNicModelOf,
  smartNicVendor,
  smartNicsOf,
  type SmartNic,
} from "./offload/smart-nics.ts";
export type { OffloadProblem, OffloadProblemCode, OffloadPool, OffloadSelection } from "./offload/offload-selection.ts";
export { selectOffloadPools, type OffloadSources } from "./offload/select-offload-pools.ts";
export { mostManagementVfs, offloadLabelKeys, offloadHostOf, type OffloadHost } from "./offload/offload-host.ts";
export {
  afxdpDevices,
  sriovUse,
  type AfxdpDevice,
  type AssignedDevices,
  type SriovUseSource,
  type SriovUse,
  deviceKey,
  subfunctionKey,
} from "./afxdp/afxdp-device.ts";
export type { AfxdpProblem, AfxdpProblemCode } from "./afxdp/afxdp-problem.ts";
export {
  afxdpModeOf,
  afxdpProviderOf,
  createAfxdpRules,
  poolSettingsOf,
  type AfxdpRules,
  type AfxdpRuleSources,
} from "./afxdp/afxdp-rules.ts";
export {
  afxdpPolicyProblems,
  mergeAfxdpPolicies,
  type AfxdpMatch,
  type MergedAfxdpNode,
} from "./afxdp/merge-afxdp-policies.ts";
export { couldMatchDevice } from "./afxdp/afxdp-nic-selector.ts";
export { subfunctionHint } from "./afxdp/device-problems.ts";
export { poolVerdict, type PoolVerdict } from "./afxdp/pool-verdict.ts";
export { upstreamDeviceProblem, upstreamPoolProblems } from "./afxdp/provider-problems.ts";
export { reservedVfs, unreservedVfs, type UnreservedVfs } from "./offload/reservation.ts";
export { findClaimProblem, type ClaimProblem, type ClaimSurroundings } from "./claims/claim-problem.ts";
export { claimedDevices, publishedVfs, resourceAttribute, type SlicesAndClaims } from "./claims/published-vfs.ts";
export { usageOf, type DraWithheldReason, type VfUsage } from "./claims/vf-usage.ts";
export { type VfConfig, type VfConfigDriver } from "./claims/vf-config.ts";
export {
  parseAllocatedClaim,
  type AllocatedClaim,
  type AllocatedClaimDevice,
  type ClaimScope,
} from "./claims/allocated-claim.ts";
