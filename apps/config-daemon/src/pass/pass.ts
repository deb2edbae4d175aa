// SPDX-License-Identifier: Apache-2.0
/**
 * createPass wraps configureNode with metrics, logs and error handling. Errors of the host are reported by configure-node.ts.
 * This file reports all other errors on the NodeState: a request that the API server refuses, and bugs.
 */
import { sriovNetworkNodeStates, type DrainRequest, type SriovNetworkNodeState } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { isKubeError, type Requeue, type Transport } from "@switchyard/kube";
import { describeStep, type Step } from "@switchyard/plan";
import type { Logger } from "@switchyard/service";
import { hasLockCondition, type LockCondition } from "../lock/lock-condition.ts";
import type { FirmwareReader } from "../observe/firmware/firmware-reader.ts";
import type { DaemonMetrics } from "../report/daemon-metrics.ts";
import type { Report } from "../report/reporter.ts";
import type { StepFailure } from "./apply-steps.ts";
import { configureNode, type ConfigureDeps } from "./configure-node.ts";
import { requestDrain, requestOf, setDrainer, withdrawRequest } from "./drain-request.ts";
import { pauseAfter, type MainLoop } from "./main-loop.ts";

export interface PassDeps extends Pick<
  ConfigureDeps,
  | "timing"
  | "observeHost"
  | "withRecordDeadline"
  | "loadVhostModules"
  | "refusedChanges"
  | "missingInterfaces"
  | "keepUdevRules"
  | "beginPass"
  | "maxPfs"
  | "maxHanging"
  | "runningSteps"
  | "isDrainDisabled"
  | "isDrainNeededElsewhere"
> {
  readonly host: Host;
  readonly transport: Transport;
  readonly useExternalDrainer: boolean;
  /** Called before a request for a drain is written. */
  readonly onDrainRequest?: (request: DrainRequest) => void;
  readonly report: Report;
  readonly metrics: DaemonMetrics;
  readonly loop: MainLoop;
  readonly lockCondition: LockCondition;
  readonly firmware: Pick<FirmwareReader, "stepEnded">;
  readonly log: Logger;
  /** Starts another pass. */
  readonly wake: () => void;
  /** Ends a pass after the steps that are running. */
  readonly signal: AbortSignal;
}

/** Resolves with the time until the next pass. Rejects only if the daemon stops. */
export type Pass = (state: SriovNetworkNodeState, passSignal: AbortSignal) => Promise<Requeue & PassOutcome>;

export interface PassOutcome {
  /** The pass ended by an error that configureNode did not report. */
  readonly hasFailed: boolean;
}

/** Longest time until the next pass if the failure of this one could not be reported. */
const unreportedMs = 5_000;

export function createPass(deps: PassDeps): Pass {
  const { runningSteps, metrics, loop, log, report, signal } = deps;
  let failures = 0;
  let isLockCleared = false;

  return async function pass(state, passSignal) {
    const stop = AbortSignal.any([passSignal, signal]);
    loop.progress();
    let afterMs: number;
    let hasFailed = false;
    try {
      const result = await run(state, stop);
      failures = result === "retry" ? failures + 1 : 0;
      const changesMs = [runningSteps.nextChangeMs(), deps.missingInterfaces?.nextChangeMs()];
      afterMs = Math.min(pauseAfter(result, failures), ...changesMs.filter((ms) => ms !== undefined));
    } catch (error) {
      if (signal.aborted) throw error;
      hasFailed = true;
      failures += 1;
      log.warn({ error, failures }, "pass failed; retrying");
      const isReported = await reportFailure(state, error);
      afterMs = Math.min(pauseAfter("retry", failures), isReported ? Infinity : unreportedMs);
    }
    loop.idle(afterMs);
    return { afterMs, hasFailed };
  };

  async function run(state: SriovNetworkNodeState, stop: AbortSignal) {
    if (!isLockCleared && hasLockCondition(state)) await deps.lockCondition.clear(stop);
    isLockCleared = true;
    const carrier = { type: sriovNetworkNodeStates, ...state };
    await setDrainer(deps.useExternalDrainer, state, deps.transport, stop);
    return await configureNode(
      state,
      {
        ...deps,
        requestDrain(request) {
          deps.onDrainRequest?.(request);
          return requestDrain(request, carrier, deps.transport, stop);
        },
        withdrawRequest() {
          if (requestOf(state) !== "Idle") deps.onDrainRequest?.("Idle");
          return withdrawRequest(carrier, deps.transport, stop);
        },
        report(phase, found) {
          loop.progress();
          metrics.reported(phase);
          return report(state, phase, found);
        },
        onPlan(next, { interfaces }) {
          metrics.planned(state.spec ?? {}, interfaces, next.steps);
        },
        onApplied: metrics.applied,
        onStep,
        onLateEnd(step, failure) {
          onStep(step, failure);
          deps.wake();
        },
      },
      stop,
    );
  }

  function onStep(step: Step, failure: StepFailure | undefined): void {
    loop.progress();
    deps.firmware.stepEnded(step);
    metrics.stepEnded(step, failure !== undefined);
    if (failure === undefined) log.info({ step: describeStep(step) }, "step done");
    else log.warn({ step: describeStep(step), error: failure.message }, "step failed");
  }

  /** Reports whether the failure was written to the NodeState. */
  async function reportFailure(state: SriovNetworkNodeState, error: unknown): Promise<boolean> {
    const phase = { kind: "pass-failed", message: describe(error) } as const;
    metrics.reported(phase);
    try {
      await report(state, phase, undefined);
      return true;
    } catch (cause) {
      log.warn({ error: cause }, "status update failed; retrying");
      return false;
    }
  }
}

function describe(error: unknown): string {
  if (isKubeError(error)) return error.message;
  return error instanceof Error ? `unexpected ${error.name}: ${error.message}` : `unexpected error: ${String(error)}`;
}
