// SPDX-License-Identifier: Apache-2.0
export { createRules, type RuleSources, type Rules } from "./merge/rules.ts";
export { maxPfs, statusPfs } from "./nics/status-pfs.ts";
export { mergePolicies, policiesSelecting, type MergedNode, type PolicyMatch } from "./merge/merge-policies.ts";
export { policyProblemSeverity, type PolicyProblem, type PolicyProblemCode } from "./merge/policy-problem.ts";
export { nodeStateSpec, type StoredNodeState } from "./nodes/node-state-spec.ts";
export type { PolicyRule } from "./merge/policy-rule.ts";
export { isInNodeSet, nodeSetLabels } from "./nodes/node-set.ts";
export { inOrderOfApplication, priorityOf } from "./merge/policy-order.ts";
export { isEmptyNicSelector, isNameOf, matchesNic } from "./nics/nic-selector.ts";
export { adviceOnBarred, defaultNicPolicy, isListedNic, unlistedNics, type NicPolicy } from "./nics/nic-policy.ts";
export { parseNicRow } from "./nics/nic-row.ts";
export { supportedNics, type NamedNic, type SupportedNic } from "./nics/supported-nics.ts";
export { withOwnership } from "./nics/ownership.ts";
export { parsePfName, pfNameOf, type PfName, type PfNameProblem } from "./nics/pf-name.ts";
export { allVfs, formatVfRange, overlaps, parseVfRange, type VfRange, type VfRangeProblem } from "./vfs/vf-range.ts";
export { parseNetFilter, sameNetFilter, type NetFilter } from "./nics/net-filter.ts";
export { bridgeName, wantsBridge } from "./merge/bridges.ts";
export { poolOverlaps, poolsSelecting, rdmaModeOf, type RdmaMode } from "./pools/pools.ts";
export { isHardwareOffloadPool, type PoolProblem, type PoolRule } from "./pools/pool-rule.ts";
export { parseMaxUnavailable, type MaxUnavailableProblem } from "./pools/max-unavailable.ts";
export {
  compileLabelSelector,
  hasLabels,
  labelsOf,
  type LabelPredicate,
  type LabelSelectorProblem,
  type Labels,
} from "./nodes/label-selector.ts";
export { featureGateDefaults, isGateOn, type FeatureGate } from "./config/feature-gates.ts";
export { judgeDaemonVariable, type DaemonVariableVerdict } from "./config/daemon-variables.ts";
export {
  defaultStaleDelayMs,
  judgeStaleState,
  keepUntilMs,
  parseStaleDelayMs,
  type StaleVerdict,
} from "./nodes/stale-state.ts";
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
