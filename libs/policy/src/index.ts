// SPDX-License-Identifier: Apache-2.0
export { createRules, type RuleSources, type Rules } from "./rules.ts";
export { maxPfs, statusPfs } from "./status-pfs.ts";
export { mergePolicies, policiesSelecting, type MergedNode, type PolicyMatch } from "./merge-policies.ts";
export { policyProblemSeverity, type PolicyProblem, type PolicyProblemCode } from "./policy-problem.ts";
export { nodeStateSpec, type StoredNodeState } from "./node-state-spec.ts";
export type { PolicyRule } from "./policy-rule.ts";
export { isInNodeSet, nodeSetLabels } from "./node-set.ts";
export { inOrderOfApplication, priorityOf } from "./policy-order.ts";
export { isEmptyNicSelector, isNameOf, matchesNic } from "./nic-selector.ts";
export { adviceOnBarred, defaultNicPolicy, isListedNic, unlistedNics, type NicPolicy } from "./nic-policy.ts";
export { parseNicRow } from "./nic-row.ts";
export { supportedNics, type NamedNic, type SupportedNic } from "./supported-nics.ts";
export { withOwnership } from "./ownership.ts";
export { parsePfName, pfNameOf, type PfName, type PfNameProblem } from "./pf-name.ts";
export { allVfs, formatVfRange, overlaps, parseVfRange, type VfRange, type VfRangeProblem } from "./vf-range.ts";
export { parseNetFilter, sameNetFilter, type NetFilter } from "./net-filter.ts";
export { bridgeName, wantsBridge } from "./bridges.ts";
export { poolOverlaps, poolsSelecting, rdmaModeOf, type RdmaMode } from "./pools.ts";
export { isHardwareOffloadPool, type PoolProblem, type PoolRule } from "./pool-rule.ts";
export { parseMaxUnavailable, type MaxUnavailableProblem } from "./max-unavailable.ts";
export {
  compileLabelSelector,
  hasLabels,
  labelsOf,
  type LabelPredicate,
  type LabelSelectorProblem,
  type Labels,
} from "./label-selector.ts";
export { featureGateDefaults, isGateOn, type FeatureGate } from "./feature-gates.ts";
export { judgeDaemonVariable, type DaemonVariableVerdict } from "./daemon-variables.ts";
export {
  defaultStaleDelayMs,
  judgeStaleState,
  keepUntilMs,
  parseStaleDelayMs,
  type StaleVerdict,
} from "./stale-state.ts";
export { readPodDevices, type PodDevices } from "./pods/pod-devices.ts";
export {
  indexSlices,
  readAllocation,
  readSlice,
  type AllocatedDevice,
  type DeviceSlice,
} from "./pods/allocated-devices.ts";
export { createDeviceFacts, publishesNics, type DeviceSources, type PlacedPod } from "./pods/device-facts.ts";
export { toPfAddresses, type PfAddresses } from "./pods/pf-addresses.ts";
export { podUse, usesAny, type DeviceFacts, type PodUse } from "./pods/pod-use.ts";
