// SPDX-License-Identifier: Apache-2.0
/**
 * The heart: what has to be done so that a node has what its NodeState asks, and whom it disturbs. Pure: the daemon asks
 * it before it acts and after, the webhook before a policy is stored, the CLI without a cluster.
 * Usage: `const { steps, impact } = plan(state.spec ?? {}, state.status ?? {}, ownedInStatus(state.status ?? {}));`
 */
import type {
  InterfaceSpec,
  InterfaceStatus,
  SriovNetworkNodeStateSpec,
  SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { drainReason, type Impact, type Reason } from "./impact.ts";
import type { OwnedPfs } from "./owned-pf.ts";
import { planPf } from "./plan-pf.ts";
import { planReset } from "./plan-reset.ts";
import type { PlanProblem } from "./problem.ts";
import { rdmaModeProblem } from "./rdma-mode.ts";
import type { LoadModule, PfStep, Step } from "./step.ts";

export interface Plan {
  /** In the order they must run. Steps of different PFs do not depend on each other; load-module steps come first. */
  readonly steps: readonly Step[];
  readonly impact: Impact;
  /** Why the impact is not none; one sentence for each cause. */
  readonly reasons: readonly Reason[];
  /** What is asked for and cannot be done; the steps do all the rest. */
  readonly problems: readonly PlanProblem[];
}

/** Whether the node has all that is asked: nothing to do and nothing left out. */
export function isConverged(plan: Plan): boolean {
  return plan.steps.length === 0 && plan.problems.length === 0;
}

/**
 * Compares `desired` with `observed`. A PF that is not in desired.interfaces is reset only if it is `owned` and
 * desired.unselected names it: that a PF is missing from the spec may mean that whoever wrote it did not know of the PF.
 */
export function plan(desired: SriovNetworkNodeStateSpec, observed: SriovNetworkNodeStateStatus, owned: OwnedPfs): Plan {
  const wanted = new Map((desired.interfaces ?? []).map((spec, index) => [spec.pciAddress, { spec, index }]));
  const unselected = new Set(desired.unselected);
  const found = observed.interfaces ?? [];
  const steps: PfStep[] = [];
  const reasons: Reason[] = [];
  const problems: PlanProblem[] = [...unknownPfs(desired.interfaces ?? [], found), ...unsupported(desired, observed)];

  for (const pf of found) {
    const entry = wanted.get(pf.pciAddress);
    const ours = unselected.has(pf.pciAddress) ? owned.get(pf.pciAddress) : undefined;
    const field = entry === undefined ? "spec.unselected" : `spec.interfaces[${entry.index}]`;
    const pfPlan =
      entry !== undefined
        ? planPf(entry.spec, pf, field)
        : { steps: ours === undefined ? [] : planReset(pf, ours), problems: [] };
    steps.push(...pfPlan.steps);
    problems.push(...pfPlan.problems);
    reasons.push(...reasonsOf(pfPlan.steps, pf, field));
  }
  return {
    steps: [...modulesFor(steps), ...steps],
    impact: reasons.length > 0 ? "drain" : "none",
    reasons,
    problems,
  };
}

/** One reason for each field of a PF: sixteen VFs that change their driver are one cause. */
function reasonsOf(steps: readonly PfStep[], pf: InterfaceStatus, field: string): readonly Reason[] {
  const byField = new Map<string, Reason>();
  for (const step of steps) {
    const reason = drainReason(step, pf, field);
    if (reason !== undefined && !byField.has(reason.field)) byField.set(reason.field, reason);
  }
  return [...byField.values()];
}

/** User-space drivers are modules that nothing else loads; the kernel loads the others itself. */
function modulesFor(steps: readonly PfStep[]): readonly LoadModule[] {
  const modules = new Set<string>();
  for (const step of steps) if (step.kind === "bind-driver" && step.to !== "default") modules.add(step.to);
  return [...modules].sort().map((module) => ({ kind: "load-module", module }));
}

function unknownPfs(wanted: readonly InterfaceSpec[], found: readonly InterfaceStatus[]): readonly PlanProblem[] {
  const known = new Set(found.map((pf) => pf.pciAddress));
  return wanted.flatMap((spec, index): readonly PlanProblem[] =>
    known.has(spec.pciAddress)
      ? []
      : [
          {
            code: "unknown-pf",
            field: `spec.interfaces[${index}].pciAddress`,
            pciAddress: spec.pciAddress,
            message: `${spec.pciAddress}${spec.name ? ` (${spec.name})` : ""} is no PF of this node`,
          },
        ],
  );
}

function unsupported(
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
): readonly PlanProblem[] {
  const rdmaMode = rdmaModeProblem(desired, observed);
  const problems: PlanProblem[] = rdmaMode === undefined ? [] : [rdmaMode];
  if ((desired.bridges?.ovs ?? []).length > 0) {
    problems.push({
      code: "unsupported",
      field: "spec.bridges.ovs",
      message: "software bridges are not supported yet",
    });
  }
  return problems;
}
