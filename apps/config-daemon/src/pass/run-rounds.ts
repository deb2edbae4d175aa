// SPDX-License-Identifier: Apache-2.0
/**
 * runRounds is the frame of each pass over devices of the node. It observes, plans, waits for a drain if the plan
 * disrupts pods, records what Switchyard owns, applies the steps, observes again and reports. It is level-based: it
 * depends on the present state only. A pass that is killed at any moment is continued by the next one.
 */
import { err, type DrainRequest, type Result } from "@switchyard/api";
import { HostError } from "@switchyard/host";
import type { PlanProblem, Reason } from "@switchyard/plan";
import type { VfSet } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import type { Phase } from "../report/phase.ts";

/**
 * How a pass ended: "settled" if nothing is left to do, "waiting" if the operator or an external drainer must act
 * first. "unmerged" if the operator may not have merged the policies for a new node state yet; "retry" if something
 * failed.
 */
export type PassResult = "settled" | "waiting" | "unmerged" | "retry";

/** The parts of a plan that the frame uses. */
export interface RoundPlan<OneStep> {
  readonly steps: readonly OneStep[];
  /** Why the steps need a drain. */
  readonly reasons: readonly Reason[];
  readonly problems: readonly PlanProblem[];
}

/** A step that the host refused, or that hangs. */
export interface FailedStep<OneStep> {
  readonly step: OneStep;
  /** "set mtu 9300 on enp1s0f0: EINVAL (mtu greater than device maximum)". */
  readonly message: string;
  /** The message without explanations, which can differ from attempt to attempt; absent if it has none. */
  readonly answer?: string;
}

/** What must happen to the drain of the node before the steps of a plan. */
export interface DrainDecision<Next> {
  /** Whether the steps must wait until the node is drained. */
  readonly mustWait: boolean;
  /** Absent if the request stays as it is. */
  readonly change?: DrainChange;
  /** The part of the plan that need not wait; absent if all must wait. */
  readonly ready?: Next;
}

/** A request to write, with the VFs whose pods must leave; without VFs, it is about all of the node. Or the node's request is withdrawn. */
export type DrainChange = { readonly request: DrainRequest; readonly vfs?: VfSet | undefined } | "withdraw";

/** The drain of the node, as a pass sees it. */
export interface PassDrain<Next, Found = unknown> {
  /** Decides about the drain for the steps of `next`. It changes nothing. */
  decide(next: Next, round: number, found: Found): DrainDecision<Next>;
  /** Writes the change of a decision that was made for `found`. Rejects with KubeError. */
  write(change: DrainChange, found: Found): Promise<void>;
  /** Reports whether a request stays that the node may not need, because the spec is not merged yet. */
  keepsRequest(): boolean;
}

/** The result of recording what Switchyard owns. */
export interface Owned {
  /** Whether the plan must be made again, because the observation does not show the records yet. */
  readonly isOutdated: boolean;
  /** Problems beside those of the plan. The pass is repeated because of them. */
  readonly problems: readonly PlanProblem[];
}

/** The steps of a plan have ended. */
export interface EndedSteps<OneStep, Found> {
  readonly steps: readonly OneStep[];
  /** Empty if no step failed. */
  readonly failures: readonly FailedStep<OneStep>[];
  /** The observation before the steps. */
  readonly found: Found;
}

export interface Rounds<OneStep, Found, Next extends RoundPlan<OneStep>> {
  /** Reads the host. The error says why it cannot be read. May reject with HostError. */
  readonly observe: () => Promise<Result<Found, string>>;
  /** Plans the next steps. The error says why the pass cannot go on. `found` is undefined if the host cannot be read. */
  readonly plan: (found: Found) => Promise<Result<Next, string>> | Result<Next, string>;
  readonly drain: PassDrain<Next, Found>;
  /** Records what Switchyard owns before it is changed. The error says why it cannot. May reject with HostError. */
  readonly own: (next: Next, found: Found) => Promise<Result<Owned, string>>;
  /** Runs the steps and returns those that succeeded. Calls `onStep` when a step ends. */
  readonly apply: (next: Next, found: Found, onStep: OnStep<OneStep>) => Promise<readonly OneStep[]>;
  /** Remembers changes that the host refuses again and again, which the plan leaves out (refused-changes.ts). */
  readonly stepsEnded: (ended: EndedSteps<OneStep, Found>) => void;
  readonly describe: (step: OneStep) => string;
  /** Writes the status; rejects with KubeError. `found` is undefined if the host cannot be read. */
  readonly report: (phase: Phase, found: Found | undefined) => Promise<void>;
  /** As report(), while steps are running. */
  readonly reportRunning: (phase: Phase, found: Found) => Promise<void>;
}

/** `failure` is undefined if the step succeeded. */
export type OnStep<OneStep> = (step: OneStep, failure: FailedStep<OneStep> | undefined) => void;

/** A plan can need a second one: a VF without a driver is observed only after it was created. */
const maxRounds = 4;

/**
 * Ends between two steps when `signal` aborts. Rejects with KubeError if the API server cannot be reached. Errors of the host
 * are reported and not thrown.
 */
export async function runRounds<OneStep, Found, Next extends RoundPlan<OneStep>>(
  rounds: Rounds<OneStep, Found, Next>,
  signal: AbortSignal,
): Promise<PassResult> {
  const { drain, report } = rounds;
  let done: readonly OneStep[] = [];
  for (let round = 1; ; round++) {
    const found = await observeAndReport(rounds);
    if (found === undefined) return "retry";
    const planned = await rounds.plan(found);
    if (!planned.ok) {
      await report({ kind: "failed", failures: [{ message: planned.error }], problems: [] }, found);
      return "retry";
    }
    const whole = planned.value;
    if (signal.aborted && round > 1) {
      // The daemon stops between two rounds. The status must show the changes that were made, because the next daemon may
      // start much later.
      await report(phaseOf(whole), found);
      signal.throwIfAborted();
    }
    const { mustWait, change, ready } = drain.decide(whole, round, found);
    const next = mustWait && ready !== undefined ? ready : whole;
    const { steps, problems } = next;
    const repeated = steps.filter((step) => done.some((earlier) => isDeepStrictEqual(earlier, step)));
    if (repeated.length > 0 || round > maxRounds) {
      const failures = (repeated.length > 0 ? repeated : steps).map((step) => withoutEffect(step, rounds.describe));
      rounds.stepsEnded({ steps, failures, found });
      await report({ kind: "failed", failures, problems }, found);
      return "retry";
    }
    if (mustWait) await report({ kind: "waiting-for-drain", reasons: whole.reasons }, found);
    if (change !== undefined) await drain.write(change, found);
    if (mustWait && (ready === undefined || steps.length === 0)) return "waiting";

    const owned = await ownAndReport(next, found, rounds);
    if (owned === undefined) return "retry";
    if (owned.isOutdated) continue;
    const withProblems = { ...next, problems: [...problems, ...owned.problems] };
    if (steps.length === 0) {
      await report(phaseOf(withProblems), found);
      if (owned.problems.length > 0) return "retry"; // No event tells that a disk or udev works again.
      return drain.keepsRequest() ? "unmerged" : "settled";
    }
    const applied = await applyAndReport(withProblems, found, rounds);
    if (applied === undefined) return "retry";
    done = applied;
  }
}

/**
 * Reports whether a request that the steps of `next` do not need may be withdrawn. It stays between the rounds of a pass that
 * needed it (sriov-operator.md M-52).
 */
export function isRequestOver({ steps }: RoundPlan<unknown>, round: number): boolean {
  return round === 1 || steps.length === 0;
}

function phaseOf({ steps, problems }: RoundPlan<unknown>): Phase {
  return steps.length === 0 ? { kind: "settled", problems } : { kind: "configuring", stepCount: steps.length };
}

function withoutEffect<OneStep>(step: OneStep, describe: (step: OneStep) => string): FailedStep<OneStep> {
  return { step, message: `${describe(step)}: reported success, but had no effect on the host` };
}

/** Returns the observation; undefined if the host cannot be read, after that was reported. */
async function observeAndReport<OneStep, Found, Next extends RoundPlan<OneStep>>({
  observe,
  report,
}: Rounds<OneStep, Found, Next>): Promise<Found | undefined> {
  const seen = await resultOf(observe);
  if (seen.ok) return seen.value;
  await report({ kind: "discovery-failed", message: seen.error }, undefined);
  return undefined;
}

/** Returns undefined if nothing can be recorded, after that was reported. */
async function ownAndReport<OneStep, Found, Next extends RoundPlan<OneStep>>(
  next: Next,
  found: Found,
  { own, report }: Rounds<OneStep, Found, Next>,
): Promise<Owned | undefined> {
  const owned = await resultOf(() => own(next, found));
  if (owned.ok) return owned.value;
  await report({ kind: "failed", failures: [{ message: owned.error }], problems: next.problems }, found);
  return undefined;
}

async function resultOf<Value>(work: () => Promise<Result<Value, string>>): Promise<Result<Value, string>> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    return err(thrown.message);
  }
}

/**
 * Runs the steps and returns those that succeeded, or undefined if a step failed. A failure is reported at once, and again
 * with the observation after all steps.
 */
async function applyAndReport<OneStep, Found, Next extends RoundPlan<OneStep>>(
  next: Next,
  found: Found,
  rounds: Rounds<OneStep, Found, Next>,
): Promise<readonly OneStep[] | undefined> {
  const { steps, problems } = next;
  const failures: FailedStep<OneStep>[] = [];
  // The steps do not wait for the API server. If a report cannot be written now, the next report replaces it.
  const interim: Promise<unknown>[] = [];
  const reportInterim = (phase: Phase): void => {
    interim.push(rounds.reportRunning(phase, found).catch(() => undefined));
  };
  reportInterim({ kind: "configuring", stepCount: steps.length });
  const done = await rounds.apply(next, found, (_step, failure) => {
    if (failure === undefined) return;
    failures.push(failure);
    reportInterim({ kind: "failed", failures: [...failures], problems });
  });
  await Promise.all(interim);
  rounds.stepsEnded({ steps, failures, found });
  if (failures.length === 0) return done;
  const after = await observeAndReport(rounds);
  if (after !== undefined) await rounds.report({ kind: "failed", failures, problems }, after);
  return undefined;
}
