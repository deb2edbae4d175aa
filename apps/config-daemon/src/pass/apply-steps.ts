// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the steps of a plan on the host: PFs side by side, the steps of one PF one after another. A failed step stops
 * only what needs it (M-32). One that hangs in the kernel stops its PF alone: it is left behind, in steps-in-hand.ts, and
 * gives its place to another PF.
 * Usage: `const { failures } = await applySteps(plan.steps, { host, timing, maxPfs: 4, inHand, signal, … });`
 */
import type { InterfaceStatus } from "@switchyard/api";
import { watchCalls, type Host } from "@switchyard/host";
import { describeStep, isBlockedBy, type PfStep, type Step } from "@switchyard/plan";
import { endsWithin } from "../deadlines/ends-within.ts";
import { bindDriver } from "../steps/bind-driver.ts";
import { loadModule } from "../steps/load-module.ts";
import { releasePf } from "../steps/release-pf.ts";
import { setLinkUp } from "../steps/set-link-up.ts";
import { setPfMtu, setVfMtu } from "../steps/set-mtu.ts";
import { setNumVfs } from "../steps/set-num-vfs.ts";
import { setVfMac } from "../steps/set-vf-mac.ts";
import { createStepContext, type StepContext, type StepTiming } from "../steps/step-context.ts";
import type { StepAbout, StepsInHand } from "./running-steps.ts";

/** A step that the host refused. */
export interface StepFailure {
  readonly step: Step;
  /** "set mtu 9300 on enp1s0f0: EINVAL (mtu greater than device maximum)". */
  readonly message: string;
}

/**
 * What became of the steps: each is done, failed, left behind in hand, or left out because a step that it needs failed or
 * hangs, or because `signal` aborted.
 */
export interface ApplyOutcome {
  readonly done: readonly Step[];
  readonly failures: readonly StepFailure[];
}

export interface ApplyOptions {
  readonly host: Host;
  readonly timing: StepTiming;
  /** The PFs as they were observed before. */
  readonly found: readonly InterfaceStatus[];
  /** PFs worked on at once: each may hold a thread of libuv's pool for seconds. */
  readonly maxPfs: number;
  /** Steps that may hang at once: each holds a thread of libuv's pool for good. Beyond that no other PF is begun. */
  readonly maxHanging: number;
  readonly inHand: StepsInHand;
  /** Stops after the step in hand. */
  readonly signal: AbortSignal;
  /** Called at once when a step ends, with its failure if it failed, while other PFs go on. */
  readonly onStep: (step: Step, failure: StepFailure | undefined) => void;
  /** Called when a step that was left behind ends nevertheless, before or after the others have. */
  readonly onReturn: (step: Step, failure: StepFailure | undefined) => void;
}

/** Never rejects for what the host refuses: that is in `failures`. */
export async function applySteps(steps: readonly Step[], options: ApplyOptions): Promise<ApplyOutcome> {
  const { timing, signal, inHand, maxHanging } = options;
  const done: Step[] = [];
  const failures: StepFailure[] = [];

  function fail(failure: StepFailure): void {
    failures.push(failure);
    options.onStep(failure.step, failure);
  }

  /** Runs the step unless it makes no sense now. False where it is left behind, and the rest of its PF with it. */
  async function attempt(step: Step, run: () => Promise<void>, about: StepAbout): Promise<boolean> {
    const isBlocked = failures.some((failure) => isBlockedBy(step, failure.step)) || inHand.isHeldUp(step);
    if (signal.aborted || isBlocked) return true;
    const entry = inHand.add(step, about);
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
    entry.leave();
    running.then(
      () => {
        options.onReturn(step, undefined);
      },
      (thrown: unknown) => {
        options.onReturn(step, toFailure(step, thrown));
      },
    );
    return false;
  }

  async function runPf(pciAddress: string, ofPf: readonly PfStep[]): Promise<void> {
    const [first] = ofPf;
    const hangs = inHand.hanging.length;
    if (first !== undefined && hangs >= maxHanging) {
      fail({
        step: first,
        message: `${describeStep(first)}: not begun while ${hangs} other ${hangs === 1 ? "step hangs" : "steps hang"}`,
      });
      return;
    }
    const watched = watchCalls(options.host);
    const pf = options.found.find((each) => each.pciAddress === pciAddress);
    const context = createStepContext(watched.host, pciAddress, timing, signal);
    for (const step of ofPf) {
      const about = { pf, words: () => watched.oldest() ?? describeStep(step) };
      if (!(await attempt(step, () => runPfStep(step, context), about))) return;
    }
    // What is observed next shall be what stays. An udev that hangs is told by the step that needs it.
    await context.settle().catch(() => undefined);
  }

  for (const step of steps) {
    if (step.kind !== "load-module") continue;
    await attempt(step, () => loadModule(step, options.host), { words: () => describeStep(step) });
  }
  await inParallel([...groupByPf(steps)], options.maxPfs, ([pciAddress, ofPf]) => runPf(pciAddress, ofPf));
  return { done, failures };
}

function toFailure(step: Step, thrown: unknown): StepFailure {
  return { step, message: thrown instanceof Error ? thrown.message : String(thrown) };
}

async function runPfStep(step: PfStep, context: StepContext): Promise<void> {
  switch (step.kind) {
    case "set-pf-mtu":
      return setPfMtu(step, context);
    case "set-link-up":
      return setLinkUp(context);
    case "set-num-vfs":
      return setNumVfs(step, context);
    case "bind-driver":
      return bindDriver(step, context);
    case "set-vf-mac":
      return setVfMac(step, context);
    case "set-vf-mtu":
      return setVfMtu(step, context);
    case "release-pf":
      return releasePf(context);
  }
}

function groupByPf(steps: readonly Step[]): ReadonlyMap<string, readonly PfStep[]> {
  const byPf = new Map<string, PfStep[]>();
  for (const step of steps) {
    if (step.kind === "load-module") continue;
    const group = byPf.get(step.pciAddress);
    if (group === undefined) byPf.set(step.pciAddress, [step]);
    else group.push(step);
  }
  return byPf;
}

/** Runs `work` on all items, at most `limit` at once. */
async function inParallel<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
