// SPDX-License-Identifier: Apache-2.0
export { isBlockedBy } from "./blocked-by.ts";
export type { Impact, Reason } from "./impact.ts";
export { ownedInStatus, type OwnedPf, type OwnedPfs } from "./owned-pf.ts";
export { isConverged, plan, type Plan } from "./plan.ts";
export { describeProblem, type PlanProblem } from "./problem.ts";
export { rdmaModeProblem } from "./rdma-mode.ts";
export {
  describeStep,
  type BindDriver,
  type LoadModule,
  type PfStep,
  type ReleasePf,
  type SetLinkUp,
  type SetNumVfs,
  type SetPfMtu,
  type SetVfMac,
  type SetVfMtu,
  type Step,
} from "./step.ts";
export { vfLimitProblem, type VfLimitProblem } from "./vf-limit.ts";
