// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the steps of a plan on the host: PFs side by side, the steps of one PF one after another. A failed step stops
 * only what needs it (M-32).
 * Usage: `const { failures } = await applySteps(plan.steps, { host, timing, maxPfs: 4, signal, onStep });`
 */
import type { Host } from "@switchyard/host";
import { isBlockedBy, type PfStep, type Step } from "@switchyard/plan";
import { bindDriver } from "./steps/bind-driver.ts";
import { loadModule } from "./steps/load-module.ts";
import { releasePf } from "./steps/release-pf.ts";
import { setLinkUp } from "./steps/set-link-up.ts";
import { setPfMtu, setVfMtu } from "./steps/set-mtu.ts";
import { setNumVfs } from "./steps/set-num-vfs.ts";
import { setVfMac } from "./steps/set-vf-mac.ts";
import { createStepContext, type StepContext, type StepTiming } from "./steps/step-context.ts";

/** A step that the host refused. */
export interface StepFailure {
  readonly step: Step;
  /** "set mtu 9300 on enp1s0f0: EINVAL (mtu greater than device maximum)". */
  readonly message: string;
}

/** What became of the steps: each is done, failed, or left out because a step that it needs failed or `signal` aborted. */
export interface ApplyOutcome {
  readonly done: readonly Step[];
  readonly failures: readonly StepFailure[];
}

export interface ApplyOptions {
  readonly host: Host;
  readonly timing: StepTiming;
  /** PFs worked on at once: each may hold a thread of libuv's pool for seconds. */
  readonly maxPfs: number;
  /** Stops after the step in hand. */
  readonly signal: AbortSignal;
  /** Called at once when a step ends, with its failure if it failed, while other PFs go on. */
  readonly onStep: (step: Step, failure: StepFailure | undefined) => void;
}

/** Never rejects for what the host refuses: that is in `failures`. */
export async function applySteps(steps: readonly Step[], options: ApplyOptions): Promise<ApplyOutcome> {
  const done: Step[] = [];
  const failures: StepFailure[] = [];

  async function attempt(step: Step, run: () => Promise<void>): Promise<void> {
    if (options.signal.aborted || failures.some((failure) => isBlockedBy(step, failure.step))) return;
    try {
      await run();
      done.push(step);
      options.onStep(step, undefined);
    } catch (thrown) {
      const failure = { step, message: thrown instanceof Error ? thrown.message : String(thrown) };
      failures.push(failure);
      options.onStep(step, failure);
    }
  }

  async function runPf(pciAddress: string, ofPf: readonly PfStep[]): Promise<void> {
    const context = createStepContext(options.host, pciAddress, options.timing, options.signal);
    for (const step of ofPf) await attempt(step, () => runPfStep(step, context));
    // What is observed next shall be what stays. An udev that hangs is told by the step that needs it.
    await context.settle().catch(() => undefined);
  }

  for (const step of steps) {
    if (step.kind === "load-module") await attempt(step, () => loadModule(step, options.host));
  }
  await inParallel([...groupByPf(steps)], options.maxPfs, ([pciAddress, ofPf]) => runPf(pciAddress, ofPf));
  return { done, failures };
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
