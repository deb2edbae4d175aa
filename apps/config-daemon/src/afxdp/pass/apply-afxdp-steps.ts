// SPDX-License-Identifier: Apache-2.0
/**
 * createAfxdpSteps returns a function that runs the steps of a plan: devices in parallel, the steps of one device in sequence. A
 * failed step blocks only the steps that need it. A step that hangs in the kernel blocks only its device, until it ends.
 * Usage: `const applySteps = createAfxdpSteps(host, { timing, now, maxPfs: 4 }); const done = await applySteps(steps, { signal, onStep });`
 */
import type { Host } from "@switchyard/host";
import { isAfxdpStepBlockedBy, type AfxdpStep } from "@switchyard/plan";
import { mapConcurrently } from "@switchyard/service";
import { createWithDeadline, type DeadlineDeps, type WithDeadline } from "../../deadlines/with-deadline.ts";
import { runAfxdpStep } from "../steps/run-afxdp-step.ts";
import { createAfxdpStepContext } from "../steps/step-context.ts";

/** A step that the host refused, or that hangs. */
export interface AfxdpStepFailure {
  readonly step: AfxdpStep;
  /** "create subfunction 3 on 0000:86:00.0: EBUSY (…)". */
  readonly message: string;
}

export interface AfxdpStepsDeps extends DeadlineDeps {
  /** Devices that are configured in parallel. */
  readonly maxPfs: number;
}

export interface AfxdpStepsOptions {
  /** Stops after the steps that are running. */
  readonly signal: AbortSignal;
  /** Called when a step ends, while other devices continue. `failure` is undefined if the step succeeded. */
  readonly onStep: (step: AfxdpStep, failure: AfxdpStepFailure | undefined) => void;
}

/** Never rejects because the host refuses a step. Resolves with the steps that succeeded. */
export type ApplyAfxdpSteps = (
  steps: readonly AfxdpStep[],
  options: AfxdpStepsOptions,
) => Promise<readonly AfxdpStep[]>;

export function createAfxdpSteps(host: Host, { maxPfs, ...deps }: AfxdpStepsDeps): ApplyAfxdpSteps {
  /** A hanging step makes the next one of its device wait, and fail while it hangs. */
  const deadlines = new Map<string, WithDeadline>();

  function deadlineOf(device: string): WithDeadline {
    const deadline = deadlines.get(device) ?? createWithDeadline(host, deps);
    deadlines.set(device, deadline);
    return deadline;
  }

  /** Returns why the step failed. */
  async function run(step: AfxdpStep, signal: AbortSignal): Promise<string | undefined> {
    const { timing } = deps;
    const { device } = step;
    try {
      const ended = await deadlineOf(device)((watched) =>
        runAfxdpStep(step, createAfxdpStepContext(watched, device, { timing, signal })),
      );
      return ended.ok ? undefined : ended.error;
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : String(thrown);
    }
  }

  return async function applySteps(steps, { signal, onStep }) {
    const done: AfxdpStep[] = [];
    const devices = Map.groupBy(steps, ({ device }) => device);
    await mapConcurrently([...devices.values()], maxPfs, async (ofDevice) => {
      const failed: AfxdpStep[] = [];
      for (const step of ofDevice) {
        if (signal.aborted) return;
        if (failed.some((earlier) => isAfxdpStepBlockedBy(step, earlier))) continue;
        const message = await run(step, signal);
        if (message === undefined) done.push(step);
        else failed.push(step);
        onStep(step, message === undefined ? undefined : { step, message });
      }
    });
    return done;
  };
}
