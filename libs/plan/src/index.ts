// SPDX-License-Identifier: Apache-2.0
export { describeAfxdpStep, isAfxdpStepBlockedBy, type AfxdpStep } from "./afxdp/afxdp-step.ts";
export { afxdpDisruptionOf, deviceIdOf, isAway, mayDisruptDevice } from "./afxdp/device-use.ts";
export { planAfxdp, type AfxdpPlan } from "./afxdp/plan-afxdp.ts";
export { cardModeOf, cardModeSettings, type CardModeSetting, type CardModeValues } from "./card-mode.ts";
export { withExpectedFirmware } from "./firmware/firmware-demand.ts";
export { planWithout, vfsToDrain } from "./drained-vfs.ts";
export { drainNeedOf, type Impact, type Reason } from "./impact.ts";
export { describeMove, movedVfs, type MovedVfs } from "./moved-vfs.ts";
export { networkText } from "./bridges/bridge-uplinks.ts";
export { shownPort } from "./bridges/plan-linux-bridges.ts";
export { numVfsToHave } from "./pf/fewer-vfs.ts";
export { vfsWithoutInterface } from "./pf/missing-interface.ts";
export { ownedInStatus, type OwnedPf, type OwnedPfs } from "./pf/owned-pf.ts";
export { isConverged, plan, type Plan } from "./plan.ts";
export { describeProblem, type PlanProblem } from "./problem.ts";
export { rdmaModeDifference } from "./rdma-mode.ts";
export { planRestore, type PfBefore } from "./pf/restore-pf.ts";
export { describeRollback, pfSpecDigest } from "./rolled-back.ts";
export { rebootFile } from "./reboot.ts";
export { vdpaDriver, virtioVendor } from "./steps/vdpa.ts";
export { isBlockedBy } from "./steps/blocked-by.ts";
export {
  changedVfs,
  describeStep,
  disruptionOf,
  disruptsNode,
  isOfNode,
  isPfStep,
  stepKinds,
  summaryOf,
  type ChangedVfs,
  type NodeStep,
  type PfStep,
  type Step,
} from "./steps/step.ts";
export { changingVfs, unreadyVfs, type UnreadyCause } from "./unready-vfs.ts";
export { isVirtualNic } from "./pf/virtual-nic.ts";
export { isMellanox, vfLimitProblem, type VfLimitProblem } from "./pf/pf-problems.ts";
export { defaultSmartNicVfs, smartNicVfLimit, smartNicVfProblem, type SmartNicVfLimit } from "./pf/smart-nic-vfs.ts";
