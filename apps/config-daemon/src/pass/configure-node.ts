// SPDX-License-Identifier: Apache-2.0
/**
 * configureNode is one pass over the node: it observes, plans, requests a drain if the plan disrupts pods, records the PFs,
 * applies the steps, observes again and reports. It is level-based: it depends on the present state only. A pass that is
 * killed at any moment is continued by the next one.
 */
import type {
  InterfaceSpec,
  InterfaceStatus,
  Result,
  SriovNetworkNodeState,
  SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { describeStep, type Plan, type Step } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import type { WithDeadline } from "../deadlines/with-deadline.ts";
import type { Observation } from "../observe/observe.ts";
import type { MissingInterfaces } from "../observe/missing-interfaces.ts";
import type { ObserveHost } from "../observe/observer.ts";
import type { Phase } from "../report/phase.ts";
import { adoptUpstreamBridges } from "../upstream/managed-ovs-bridges.ts";
import { applySteps, type ApplyStepsOptions, type StepFailure } from "./apply-steps.ts";
import { createDrainControl, type DrainControlDeps } from "./drain-control.ts";
import { ownPfs } from "./own-pfs.ts";
import { planRound, withoutHanging, type PlanRoundDeps } from "./plan-round.ts";
import type { RefusedChanges } from "./refused-changes.ts";
import type { KeepUdevRules } from "../udev/keep-rules.ts";
import type { RunningSteps } from "./running-steps.ts";
import type { LoadVhostModules } from "./vhost-modules.ts";

export interface ConfigureDeps
  extends
    DrainControlDeps,
    PlanRoundDeps,
    Pick<ApplyStepsOptions, "timing" | "maxPfs" | "maxHanging" | "runningSteps" | "onStep" | "onLateEnd"> {
  readonly host: Host;
  readonly observeHost: ObserveHost;
  /** Limits the time for writing the records of PFs and adopting bridges, because a disk can hang too. */
  readonly withRecordDeadline: WithDeadline;
  readonly loadVhostModules: LoadVhostModules;
  /** Remembers changes that the host refuses from pass to pass. */
  readonly refusedChanges: RefusedChanges;
  /** Finds VFs without interface; absent where the kubelet cannot be asked. */
  readonly missingInterfaces?: MissingInterfaces | undefined;
  readonly keepUdevRules: KeepUdevRules;
  /** Called at the start of a pass on a node that is configured while it boots; absent on other nodes. */
  readonly beginPass?: BeginPass | undefined;
  /** Called when the steps of a plan have ended; `isDone` if all of them succeeded. */
  readonly onApplied: (apply: { readonly durationMs: number; readonly isDone: boolean }) => void;
}

/**
 * Returns a function that changes each plan of the pass before anything else uses it, or a sentence that says why the pass
 * cannot go on. `found` is the first observation of the pass, undefined if the host cannot be read.
 */
export type BeginPass = (
  desired: SriovNetworkNodeStateSpec,
  found: Observation | undefined,
) => Promise<Result<LimitPlan, string>>;
export type LimitPlan = (next: Plan, found: Observation) => Plan;

/**
 * How a pass ended: "settled" if nothing is left to do, "waiting" if the operator or an external drainer must act first,
 * "unmerged" if the operator may not have merged the policies for a new node state yet, "retry" if something failed.
 */
export type PassResult = "settled" | "waiting" | "unmerged" | "retry";

/** A plan can need a second one: a VF without a driver is observed only after it was created. */
const maxRounds = 4;

/** Rejects with KubeError if the API server cannot be reached. Errors of the host are reported and not thrown. */
export async function configureNode(
  state: SriovNetworkNodeState,
  given: ConfigureDeps,
  signal: AbortSignal,
): Promise<PassResult> {
  const { runningSteps } = given;
  const deps: ConfigureDeps = {
    ...given,
    report: (phase, found) => given.report(withHanging(phase, runningSteps), found),
  };
  const desired = state.spec ?? {};
  const drain = createDrainControl(state, deps);
  await adoptBridges(deps);
  const moduleProblems = await deps.loadVhostModules(desired);
  let begun: Result<LimitPlan, string> | undefined;
  let done: readonly Step[] = [];

  for (let round = 1; ; round++) {
    const found = await observeAndReport(state, deps, signal);
    begun ??= await deps.beginPass?.(desired, found);
    if (found === undefined) return "retry";
    if (begun?.ok === false) {
      await deps.report({ kind: "failed", failures: [{ message: begun.error }], problems: [] }, found);
      return "retry";
    }
    const planned = planRound(state, found, moduleProblems, deps);
    const next = begun?.value(planned, found) ?? planned;
    if (signal.aborted && round > 1) {
      // The daemon stops between two rounds. The status must show the changes that were made, because the next daemon may
      // start much later.
      await deps.report(phaseOf(next), found);
      signal.throwIfAborted();
    }
    const repeated = next.steps.filter((step) => done.some((earlier) => isDeepStrictEqual(earlier, step)));
    if (repeated.length > 0 || round > maxRounds) {
      const failures = (repeated.length > 0 ? repeated : next.steps).map(withoutEffect);
      deps.refusedChanges.ended({ steps: next.steps, failures, found: found.interfaces, desired });
      await deps.report({ kind: "failed", failures, problems: next.problems }, found);
      return "retry";
    }
    if (!(await drain.allows(next, found, round))) return "waiting";

    const wanted = ownable(withoutHanging(desired, runningSteps), next);
    const owning = await ownAndReport(wanted, next, found, deps);
    if (owning === "failed") return "retry";
    const ruleProblems = await deps.keepUdevRules({
      desired,
      wanted,
      found: found.interfaces,
      pfNumbers: found.pfNumbers,
      hasSteps: next.steps.length > 0,
    });
    const ruled = { ...next, problems: [...next.problems, ...ruleProblems] };
    if (next.steps.length === 0) {
      if (owning === "changed") continue; // The next observation includes the new records.
      await deps.report(phaseOf(ruled), found);
      if (ruleProblems.length > 0) return "retry"; // No event tells that a disk or udev works again.
      return drain.keepsRequest() ? "unmerged" : "settled";
    }

    const applied = await applyAndReport(ruled, found, { ...deps, state }, signal);
    // The node shuts down and may have no network any more, so nothing more is reported.
    if (ruled.steps.some(({ kind }) => kind === "reboot")) signal.throwIfAborted();
    if (applied === undefined) return "retry";
    done = applied;
  }
}

/** The observation reports why Open vSwitch does not answer. A file that cannot be removed is tried again by the next pass. */
async function adoptBridges({ withRecordDeadline }: ConfigureDeps): Promise<void> {
  try {
    await withRecordDeadline(adoptUpstreamBridges);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
  }
}

function phaseOf({ steps, problems }: Plan): Phase {
  return steps.length === 0 ? { kind: "settled", problems } : { kind: "configuring", stepCount: steps.length };
}

function withHanging(phase: Phase, runningSteps: RunningSteps): Phase {
  const hanging = runningSteps.describe();
  return hanging.length === 0 ? phase : { ...phase, hanging };
}

/** Returns undefined if the host cannot be read, after it has reported that. */
async function observeAndReport(
  { spec: desired = {}, status }: SriovNetworkNodeState,
  deps: ConfigureDeps,
  signal: AbortSignal,
): Promise<Observation | undefined> {
  const held = deps.runningSteps.hanging.flatMap(({ step, pf }): readonly InterfaceStatus[] =>
    "pciAddress" in step ? [pf ?? { pciAddress: step.pciAddress }] : [],
  );
  const seen = await deps.observeHost(held, desired);
  if (seen.ok) {
    const given = { desired, before: status?.interfaces ?? [] };
    const pfs = (await deps.missingInterfaces?.addTo(seen.value.interfaces, given, signal)) ?? seen.value.interfaces;
    return { ...seen.value, interfaces: deps.refusedChanges.addTo(pfs, desired) };
  }
  await deps.report({ kind: "discovery-failed", message: seen.error }, undefined);
  return undefined;
}

/** The PFs that the plan changes or finds configured. A PF that the plan refuses does not become Switchyard's. */
function ownable(desired: SriovNetworkNodeStateSpec, next: Plan): readonly InterfaceSpec[] {
  const changed = new Set(next.steps.map((step) => ("pciAddress" in step ? step.pciAddress : undefined)));
  const refused = new Set(next.problems.map((problem) => problem.pciAddress));
  return (desired.interfaces ?? []).filter(({ pciAddress }) => changed.has(pciAddress) || !refused.has(pciAddress));
}

/** Records the PFs. */
async function ownAndReport(
  wanted: readonly InterfaceSpec[],
  next: Plan,
  found: Observation,
  deps: ConfigureDeps,
): Promise<"changed" | "unchanged" | "failed"> {
  const { problems } = next;
  try {
    const owned = await deps.withRecordDeadline((host) => ownPfs(host, wanted, found));
    if (owned.ok) return owned.value ? "changed" : "unchanged";
    await deps.report({ kind: "failed", failures: [{ message: owned.error }], problems }, found);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    await deps.report({ kind: "failed", failures: [thrown], problems }, found);
  }
  return "failed";
}

/**
 * Runs the steps and returns those that succeeded, or undefined if a step failed. A failure is reported at once, and again
 * with the observation after all steps.
 */
async function applyAndReport(
  next: Plan,
  { bootId: _bootId, records: _records, ...found }: Observation,
  { state, ...deps }: ConfigureDeps & { readonly state: SriovNetworkNodeState },
  signal: AbortSignal,
): Promise<readonly Step[] | undefined> {
  const failures: StepFailure[] = [];
  // The steps do not wait for the API server. If a report cannot be written now, the next report replaces it.
  const interim: Promise<unknown>[] = [];
  const reportInterim = (phase: Phase): void => {
    interim.push(deps.report(phase, found).catch(() => undefined));
  };

  reportInterim({ kind: "configuring", stepCount: next.steps.length });
  const startedMs = deps.timing.nowMs();
  const outcome = await applySteps(next.steps, {
    ...deps,
    found: found.interfaces,
    signal,
    // The API server may be away. The reboot does not wait for it for long: a request has its own time limit.
    beforeReboot: (causes) => deps.report({ kind: "rebooting", causes }, found).catch(() => undefined),
    onStep(step, failure) {
      deps.missingInterfaces?.stepEnded(step, failure !== undefined);
      deps.onStep(step, failure);
      if (failure === undefined) return;
      failures.push(failure);
      reportInterim({ kind: "failed", failures: [...failures], problems: next.problems });
    },
  });
  deps.onApplied({
    durationMs: deps.timing.nowMs() - startedMs,
    isDone: outcome.done.length === next.steps.length,
  });
  await Promise.all(interim);
  deps.refusedChanges.ended({ steps: next.steps, failures, found: found.interfaces, desired: state.spec ?? {} });
  if (failures.length === 0) return outcome.done;
  const after = await observeAndReport(state, deps, signal);
  if (after !== undefined) await deps.report({ kind: "failed", failures, problems: next.problems }, after);
  return undefined;
}

function withoutEffect(step: Step): StepFailure {
  return { step, message: `${describeStep(step)}: reported success, but had no effect on the host` };
}
