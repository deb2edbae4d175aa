// SPDX-License-Identifier: Apache-2.0
/**
 * applySteps runs the steps of a plan on the host: PFs in parallel, the steps of one PF in sequence. A failed step blocks
 * only the steps that need it (sriov-operator.md M-32). A step that hangs in the kernel blocks only its PF: it is marked as
 * hanging in running-steps.ts, and the next PF starts in its place.
 */
import type { InterfaceStatus } from "@switchyard/api";
import { HostError, watchCalls, type Host } from "@switchyard/host";
import { describeStep, isBlockedBy, isPfStep, type NodeStep, type PfStep, type Step } from "@switchyard/plan";
import { mapConcurrently } from "@switchyard/service";
import { endsWithin, type StepTiming } from "../deadlines/with-deadline.ts";
import { runNodeStep, runPfStep } from "../steps/run-step.ts";
import { FewerVfsError } from "../steps/vfs.ts";
import { createStepContext, type StepContext, type StepContextOptions } from "../steps/step-context.ts";
import type { RunningSteps, StepAbout } from "./running-steps.ts";

/** A step that the host refused. */
export interface StepFailure {
  readonly step: Step;
  /** "set mtu 9300 on enp1s0f0: EINVAL (mtu greater than device maximum)". */
  readonly message: string;
  /** The answer of the host without explanations, which can differ from attempt to attempt; absent if it is the message. */
  readonly answer?: string;
  /** Number of VFs that a set-num-vfs created nevertheless; absent if it is 0 or if the step is of another kind. */
  readonly created?: number;
}

/**
 * The steps that ended. Each other step hangs, or was skipped because a step that it needs failed or hangs, or because
 * `signal` was aborted.
 */
export interface ApplyOutcome {
  readonly done: readonly Step[];
  readonly failures: readonly StepFailure[];
}

export interface ApplyStepsOptions {
  readonly host: Host;
  readonly timing: StepTiming;
  /** The PFs as observed before the steps. */
  readonly found: readonly InterfaceStatus[];
  /** PFs that are configured in parallel. Each may occupy a thread of libuv's pool for seconds. */
  readonly maxPfs: number;
  /** Hanging steps, each of which occupies a thread of libuv's pool for good. At this number no other PF is started. */
  readonly maxHanging: number;
  readonly runningSteps: RunningSteps;
  /** Stops after the steps that are running. */
  readonly signal: AbortSignal;
  /** Asks the kubelet whether no pod has a VF; absent where it cannot be asked. */
  readonly isFree?: StepContextOptions["isFree"];
  /** Called before the node reboots. */
  readonly beforeReboot: (causes: readonly string[]) => Promise<void>;
  /** Called when a step ends, while other PFs continue. `failure` is undefined if the step succeeded. */
  readonly onStep: (step: Step, failure: StepFailure | undefined) => void;
  /** Called when a step ends that was marked as hanging, possibly after applySteps has resolved. */
  readonly onLateEnd: (step: Step, failure: StepFailure | undefined) => void;
}

/** Never rejects because the host refuses a step: `failures` contains these steps. */
export async function applySteps(steps: readonly Step[], options: ApplyStepsOptions): Promise<ApplyOutcome> {
  const { timing, signal, runningSteps, maxHanging } = options;
  const done: Step[] = [];
  const failures: StepFailure[] = [];

  function fail(failure: StepFailure): void {
    failures.push(failure);
    options.onStep(failure.step, failure);
  }

  /** Runs the step unless it is blocked. Resolves with false if it hangs. */
  async function runUnlessBlocked(step: Step, run: () => Promise<void>, about: StepAbout): Promise<boolean> {
    const isBlocked = failures.some((failure) => isBlockedByFailure(step, failure)) || runningSteps.isBlocked(step);
    if (signal.aborted || isBlocked) return true;
    const entry = runningSteps.add(step, about);
    const running = run().finally(() => {
      entry.end();
    });
    try {
      if (await endsWithin(running, timing.stepDeadlineMs, timing)) {
        done.push(step);
        options.onStep(step, undefined);
        return true;
      }
    } catch (thrown) {
      fail(toFailure(step, thrown));
      return true;
    }
    entry.markHanging();
    running.then(
      () => {
        options.onLateEnd(step, undefined);
      },
      (thrown: unknown) => {
        options.onLateEnd(step, toFailure(step, thrown));
      },
    );
    return false;
  }

  async function runPf(pciAddress: string, ofPf: readonly PfStep[]): Promise<void> {
    const [first] = ofPf;
    const hanging = runningSteps.hangingCount;
    if (first !== undefined && hanging >= maxHanging) {
      const others = hanging === 1 ? "1 other step hangs" : `${hanging} other steps hang`;
      fail({ step: first, message: `${describeStep(first)}: not started because ${others}` });
      return;
    }
    const watched = watchCalls(options.host);
    const pf = options.found.find((each) => each.pciAddress === pciAddress);
    const context = createStepContext(watched.host, pciAddress, { timing, signal, isFree: options.isFree });
    for (const step of ofPf) {
      const about = { pf, describe: () => watched.oldest() ?? describeStep(step) };
      if (!(await runUnlessBlocked(step, () => runExplained(step, context), about))) return;
    }
    // The next observation must see the final names. A step that needs udev reports the error if udev hangs.
    await context.settle().catch(() => undefined);
  }

  async function runOfNode(step: NodeStep): Promise<void> {
    const about = { describe: () => describeStep(step) };
    const run = async (): Promise<void> => {
      if (step.kind === "reboot") await options.beforeReboot(step.causes);
      await runNodeStep(step, options.host, { timing, signal });
    };
    await runUnlessBlocked(step, run, about);
  }

  const ofNode = steps.filter((step) => !isPfStep(step));
  for (const step of ofNode) if (step.kind !== "reboot") await runOfNode(step);
  await mapConcurrently(groupByPf(steps), options.maxPfs, ([pciAddress, ofPf]) => runPf(pciAddress, ofPf));
  for (const step of ofNode) if (step.kind === "reboot") await runOfNode(step);
  return { done, failures };
}

/** Returns a function that runs steps to their end, also if the daemon stops: without them, the node may have no network. */
export function createUndo(
  options: Pick<ApplyStepsOptions, "host" | "timing" | "maxPfs" | "maxHanging" | "runningSteps">,
): (steps: readonly Step[], found: readonly InterfaceStatus[]) => Promise<ApplyOutcome> {
  return (steps, found) =>
    applySteps(steps, {
      ...options,
      found,
      signal: new AbortController().signal,
      beforeReboot: () => Promise.resolve(),
      onStep: () => undefined,
      onLateEnd: () => undefined,
    });
}

function toFailure(step: Step, thrown: unknown): StepFailure {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    step,
    message,
    ...(thrown instanceof HostError && { answer: new HostError(thrown.operation, thrown.code, {}).message }),
    ...(thrown instanceof FewerVfsError && { created: thrown.created }),
  };
}

/** Rejects with the step's HostError and what the kernel log says about it. */
async function runExplained(step: PfStep, context: StepContext): Promise<void> {
  try {
    await runPfStep(step, context);
  } catch (thrown) {
    // The words of a FewerVfsError say it all.
    if (!(thrown instanceof HostError) || thrown instanceof FewerVfsError) throw thrown;
    throw await context.explainer.explain(thrown);
  }
}

/**
 * If the driver created some VFs, all steps go on without the others. A later pass would have to take the VFs away from
 * the kernel's driver, for which the node is drained.
 */
function isBlockedByFailure(step: Step, { step: failed, created }: StepFailure): boolean {
  if (created === undefined || step.kind === "release-pf" || !isPfStep(step)) return isBlockedBy(step, failed);
  return isBlockedBy(step, failed) && "vfId" in step && step.vfId >= created;
}

function groupByPf(steps: readonly Step[]): ReadonlyMap<string, readonly PfStep[]> {
  const byPf = new Map<string, PfStep[]>();
  for (const step of steps) {
    if (!isPfStep(step)) continue;
    const group = byPf.get(step.pciAddress);
    if (group === undefined) byPf.set(step.pciAddress, [step]);
    else group.push(step);
  }
  return byPf;
}
