// SPDX-License-Identifier: Apache-2.0
/** planRound plans a round of a pass over the SR-IOV devices of a node, without the PFs on which a step hangs. */
import {
  defined,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
  type SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { ownedInStatus, plan, type Plan, type PlanProblem } from "@switchyard/plan";
import type { Observation } from "../observe/observe.ts";
import { knownBridges } from "../report/status-of.ts";
import type { RunningSteps } from "./running-steps.ts";

export interface PlanRoundDeps {
  readonly runningSteps: RunningSteps;
  /** Called with each plan and the observation that it is based on. */
  readonly onPlan: (next: Plan, found: Observation) => void;
}

/** Policies that select cards by netFilter match nothing until the networks are known. */
function problemsOfMetadata(message: string | undefined): readonly PlanProblem[] {
  return message === undefined ? [] : [{ code: "metadata", field: "spec.interfaces", message }];
}

export function planRound(
  { metadata: { generation = 0 }, spec: desired = {}, status }: SriovNetworkNodeState,
  found: Observation,
  { runningSteps, onPlan }: PlanRoundDeps,
): Plan {
  const { interfaces, system, metadataProblem, bridges, openVSwitch, holders } = found;
  const { openVSwitch: _before, holders: _holders, ...known } = status ?? {};
  const observed: SriovNetworkNodeStateStatus = {
    ...known,
    observedGeneration: generation,
    interfaces,
    system,
    ...defined({ openVSwitch, holders }),
    bridges: knownBridges(status?.bridges, bridges),
  };
  const planned = plan(desired, observed, ownedInStatus(observed));
  const problems = [...planned.problems, ...problemsOfMetadata(metadataProblem)];
  const whole = { ...planned, problems };
  onPlan(whole, found);
  return runningSteps.hanging.length === 0 ? whole : planWithoutHanging(runningSteps, whole, desired, observed);
}

/** Plans for all PFs that no hanging step changes. The problems of the whole plan stay. */
function planWithoutHanging(
  runningSteps: RunningSteps,
  { problems }: Plan,
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
): Plan {
  const rest = withoutHanging(observed, runningSteps);
  const next = plan(withoutHanging(desired, runningSteps), rest, ownedInStatus(rest));
  return { ...next, problems, steps: next.steps.filter((step) => !runningSteps.isBlocked(step)) };
}

/** Returns the spec or the status without the PFs that hanging steps change. */
export function withoutHanging<Of extends { readonly interfaces?: readonly { readonly pciAddress: string }[] }>(
  object: Of,
  { hanging }: RunningSteps,
): Of {
  const held = new Set(hanging.map(({ step }) => ("pciAddress" in step ? step.pciAddress : undefined)));
  if (held.size === 0) return object;
  return { ...object, interfaces: (object.interfaces ?? []).filter(({ pciAddress }) => !held.has(pciAddress)) };
}
