// SPDX-License-Identifier: Apache-2.0
/**
 * createAfxdpSteps returns a function that runs the steps of a plan: devices in parallel, the steps of one device in sequence or,
 * where they wait for drivers, in batches. A
 * failed step blocks only the steps that need it. A step that hangs in the kernel blocks only its device, until it ends.
 */
import type { Host } from "@switchyard/host";
import { isAfxdpStepBlockedBy, type AfxdpStep } from "@switchyard/plan";
import { mapConcurrently } from "@switchyard/service";
import { createWithDeadline, type DeadlineDeps, type WithDeadline } from "../../deadlines/with-deadline.ts";
import type { OnStep } from "../../pass/run-rounds.ts";
import { batchesOf, runAfxdpSteps } from "../steps/run-afxdp-steps.ts";
import {
  createAfxdpStepContext,
  createDeviceMemory,
  type DeviceMemory,
  type StepOutcomes,
} from "../steps/step-context.ts";
import type { SubfunctionSupport } from "./subfunction-support.ts";

export interface AfxdpStepsDeps extends DeadlineDeps {
  /** Devices that are configured in parallel. */
  readonly maxPfs: number;
  /** Told when a device has no subfunctions. */
  readonly subfunctionSupport: Pick<SubfunctionSupport, "refused">;
}

export interface AfxdpStepsOptions {
  /** Stops after the steps that are running. */
  readonly signal: AbortSignal;
  /** Called when a step ends, while other devices continue. `failure` is undefined if the step succeeded. */
  readonly onStep: OnStep<AfxdpStep>;
}

export interface AfxdpSteps {
  /** Never rejects because the host refuses a step. Resolves with the steps that succeeded. */
  run(steps: readonly AfxdpStep[], options: AfxdpStepsOptions): Promise<readonly AfxdpStep[]>;
  /** Reports whether a step has not ended. Between two calls of run(), it hangs in the kernel. */
  isHanging(): boolean;
}

export function createAfxdpSteps(host: Host, { maxPfs, subfunctionSupport, ...deps }: AfxdpStepsDeps): AfxdpSteps {
  /** Devices on which a step runs. */
  const running = new Set<string>();

  /** A hanging step makes the next one of its device wait, and fail while it hangs. */
  const deadlines = new Map<string, WithDeadline>();

  function deadlineOf(device: string): WithDeadline {
    const deadline = deadlines.get(device) ?? createWithDeadline(host, deps);
    deadlines.set(device, deadline);
    return deadline;
  }

  /** Returns the steps that have ended, with the messages of those that failed. If one hangs, those after it have not begun. */
  async function run(
    steps: readonly AfxdpStep[],
    {
      device,
      memory,
      signal,
    }: { readonly device: string; readonly memory: DeviceMemory; readonly signal: AbortSignal },
  ): Promise<ReadonlyMap<AfxdpStep, string | undefined>> {
    const { timing } = deps;
    const outcomes: StepOutcomes = new Map();
    let common: string | undefined;
    try {
      const ended = await deadlineOf(device)((watched) => {
        running.add(device);
        const context = createAfxdpStepContext(watched, device, { timing, signal, memory, subfunctionSupport });
        return runAfxdpSteps(steps, context, outcomes).finally(() => running.delete(device));
      });
      if (!ended.ok) common = ended.error;
    } catch (thrown) {
      common = textOf(thrown);
    }
    const first = steps.find((step) => !outcomes.has(step));
    const messages = [...outcomes].map(
      ([step, error]) => [step, error === undefined ? undefined : textOf(error)] as const,
    );
    return new Map(common !== undefined && first !== undefined ? [...messages, [first, common] as const] : messages);
  }

  async function runAll(
    steps: readonly AfxdpStep[],
    { signal, onStep }: AfxdpStepsOptions,
  ): Promise<readonly AfxdpStep[]> {
    const done: AfxdpStep[] = [];
    const devices = Map.groupBy(steps, ({ device }) => device);
    await mapConcurrently([...devices], maxPfs, async ([device, ofDevice]) => {
      const memory = createDeviceMemory();
      const failed: AfxdpStep[] = [];
      for (const batch of batchesOf(ofDevice)) {
        if (signal.aborted) return;
        const runnable = batch.filter((step) => !failed.some((earlier) => isAfxdpStepBlockedBy(step, earlier)));
        if (runnable.length === 0) continue;
        for (const [step, message] of await run(runnable, { device, memory, signal })) {
          if (message === undefined) done.push(step);
          else failed.push(step);
          onStep(step, message === undefined ? undefined : { step, message });
        }
      }
    });
    return done;
  }

  return { run: runAll, isHanging: () => running.size > 0 };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
