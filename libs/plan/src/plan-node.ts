// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the settings of the whole node: everything in the spec that does not belong to one PF.
 * A setting that takes effect only at the next boot adds a RebootCause to `reboots` (reboot.ts).
 * Usage: `const { steps, reasons, reboots, problems } = planNode(desired, observed)`.
 */
import type { SriovNetworkNodeStateSpec, SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { Reason } from "./impact.ts";
import { planKernelArguments } from "./kernel-arguments.ts";
import { planHostOvs } from "./plan-host-ovs.ts";
import type { PlanProblem } from "./problem.ts";
import { planOvsOffload } from "./plan-ovs-offload.ts";
import { planRdmaMode } from "./rdma-mode.ts";
import { mergeRebootNeeds, type RebootNeeds } from "./reboot.ts";
import type { NodeStep } from "./steps/step.ts";

export interface NodePlan {
  /** In the order in which they must run, before the steps of PFs. */
  readonly steps: readonly NodeStep[];
  /** Why the steps disrupt pods. */
  readonly reasons: readonly Reason[];
  /** Why the node must reboot. */
  readonly reboots: RebootNeeds;
  readonly problems: readonly PlanProblem[];
}

export function planNode(desired: SriovNetworkNodeStateSpec, observed: SriovNetworkNodeStateStatus): NodePlan {
  const rdma = planRdmaMode(desired, observed);
  const offload = planOvsOffload(desired, observed);
  const kernel = planKernelArguments(desired, observed);
  const hostOvs = planHostOvs(desired, observed);
  return {
    steps: [...rdma.steps, ...kernel.steps, ...hostOvs.steps, ...offload.steps],
    reasons: offload.reasons,
    reboots: mergeRebootNeeds([rdma.reboots, kernel.reboots, hostOvs.reboots]),
    problems: [...rdma.problems, ...kernel.problems, ...hostOvs.problems],
  };
}
