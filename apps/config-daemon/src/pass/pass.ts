// SPDX-License-Identifier: Apache-2.0
/**
 * A pass with all that is around it: it is watched, measured and logged, and whatever ends it is reported on the node's
 * state. What the host refuses, configure-node.ts reports itself; here it is what nobody expected: the API server refuses
 * something, or there is a bug.
 * Usage: `const pass = createPass({ host, report, inHand, …, signal }); const { afterMs } = await pass(state, passSignal);`
 */
import type { SriovNetworkNodeState } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { isKubeError, type Requeue, type Transport } from "@switchyard/kube";
import { describeStep, type Step } from "@switchyard/plan";
import type { Logger } from "@switchyard/service";
import type { StepFailure } from "./apply-steps.ts";
import { configureNode, type ConfigureDeps } from "./configure-node.ts";
import type { DaemonMetrics } from "../report/daemon-metrics.ts";
import { nameDrainer, requestDrain } from "./drain-request.ts";
import { hasLockCondition, type LockCondition } from "../lock/lock-condition.ts";
import type { MainLoop } from "./main-loop.ts";
import { pauseAfter } from "./pause-after.ts";
import type { Report } from "../report/reporter.ts";

export interface PassDeps extends Pick<
  ConfigureDeps,
  "timing" | "look" | "record" | "loadVhostModules" | "maxPfs" | "maxHanging" | "inHand" | "isDrainDisabled"
> {
  readonly host: Host;
  readonly transport: Transport;
  readonly useExternalDrainer: boolean;
  readonly report: Report;
  readonly metrics: DaemonMetrics;
  readonly loop: MainLoop;
  readonly lockCondition: LockCondition;
  readonly log: Logger;
  /** Called when there is something new for another pass. */
  readonly wake: () => void;
  /** Ends a pass after the step in hand. */
  readonly signal: AbortSignal;
}

/** Resolves with when the next one is due, and whether it could be made at all. Rejects only where the daemon stops. */
export type Pass = (state: SriovNetworkNodeState, passSignal: AbortSignal) => Promise<Requeue & PassOutcome>;

export interface PassOutcome {
  readonly hasFailed: boolean;
}

/** Until the next pass where not even its failure could be reported. */
const unreportedMs = 5_000;

export function createPass(deps: PassDeps): Pass {
  const { inHand, metrics, loop, log, report, signal } = deps;
  let failures = 0;
  let isLockCleared = false;

  return async function pass(state, passSignal) {
    const stop = AbortSignal.any([passSignal, signal]);
    loop.turns();
    let afterMs: number;
    let hasFailed = false;
    try {
      const result = await run(state, stop);
      failures = result === "retry" ? failures + 1 : 0;
      afterMs = Math.min(pauseAfter(result, failures), inHand.untilNewsMs() ?? Infinity);
    } catch (error) {
      if (signal.aborted) throw error;
      hasFailed = true;
      failures += 1;
      log.warn({ error, failures }, "pass failed; retrying");
      const isReported = await tellFailure(state, error);
      afterMs = Math.min(pauseAfter("retry", failures), isReported ? Infinity : unreportedMs);
    }
    loop.rests(afterMs);
    return { afterMs, hasFailed };
  };

  async function run(state: SriovNetworkNodeState, stop: AbortSignal) {
    if (!isLockCleared && hasLockCondition(state)) await deps.lockCondition.clear(stop);
    isLockCleared = true;
    await nameDrainer(deps.useExternalDrainer, state, deps.transport, stop);
    return await configureNode(
      state,
      {
        ...deps,
        requestDrain: (request) => requestDrain(request, state, deps.transport, stop),
        report(phase, found) {
          loop.turns();
          metrics.reported(phase);
          return report(state, phase, found);
        },
        onPlan(next, { interfaces }) {
          metrics.planned(state.spec ?? {}, interfaces, next.steps);
        },
        onApplied: metrics.applied,
        onStep,
        onReturn(step, failure) {
          onStep(step, failure);
          deps.wake();
        },
      },
      stop,
    );
  }

  function onStep(step: Step, failure: StepFailure | undefined): void {
    loop.turns();
    metrics.stepEnded(step, failure !== undefined);
    if (failure === undefined) log.info({ step: describeStep(step) }, "step done");
    else log.warn({ step: describeStep(step), error: failure.message }, "step failed");
  }

  /** Whether the node's state has it. */
  async function tellFailure(state: SriovNetworkNodeState, error: unknown): Promise<boolean> {
    const phase = { kind: "pass-failed", message: describe(error) } as const;
    metrics.reported(phase);
    try {
      await report(state, phase, undefined);
      return true;
    } catch (cause) {
      log.warn({ error: cause }, "failure not reported; retrying");
      return false;
    }
  }
}

function describe(error: unknown): string {
  if (isKubeError(error)) return error.message;
  return error instanceof Error ? `unexpected ${error.name}: ${error.message}` : `unexpected error: ${String(error)}`;
}
