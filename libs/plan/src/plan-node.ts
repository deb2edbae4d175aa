// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the settings of the whole node: everything in the spec that does not belong to one PF.
 * Usage: `const { steps, reasons, problems, needsReboot } = planNode(desired, observed)`.
 */
import type { SriovNetworkNodeStateSpec, SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { Reason } from "./impact.ts";
import type { PlanProblem } from "./problem.ts";
import { planOvsOffload } from "./plan-ovs-offload.ts";
import { planRdmaMode } from "./rdma-mode.ts";
import type { NodeStep } from "./steps/step.ts";

export interface NodePlan {
  /** In the order in which they must run, before the steps of PFs. */
  readonly steps: readonly NodeStep[];
  /** Why the steps disrupt pods. */
  readonly reasons: readonly Reason[];
  readonly problems: readonly PlanProblem[];
}

export function planNode(desired: SriovNetworkNodeStateSpec, observed: SriovNetworkNodeStateStatus): NodePlan {
  const rdma = planRdmaMode(desired, observed);
  const offload = planOvsOffload(desired, observed);
  return { steps: [...rdma.steps, ...offload.steps], reasons: offload.reasons, problems: rdma.problems };
}
