// SPDX-License-Identifier: Apache-2.0
/**
 * createPass wraps configureNode with metrics, logs and error handling. Errors of the host are reported by configure-node.ts, all
 * other errors by retries.ts.
 */
import { sriovNetworkNodeStates, type DrainRequest, type SriovNetworkNodeState } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import type { Transport } from "@switchyard/kube";
import { describeStep, type Step } from "@switchyard/plan";
import type { Logger } from "@switchyard/service";
import { hasLockCondition, type LockCondition } from "../lock/lock-condition.ts";
import type { FirmwareReader } from "../observe/firmware/firmware-reader.ts";
import type { DaemonMetrics } from "../report/daemon-metrics.ts";
import type { Report } from "../report/reporter.ts";
import type { StepFailure } from "./apply-steps.ts";
import { configureNode, type ConfigureDeps } from "./configure-node.ts";
import { requestOf, setDrainer, withdrawRequest } from "./drain-request.ts";
import type { MainLoop } from "./main-loop.ts";
import { createRetries, type PassOutcome } from "./retries.ts";
import type { WithheldVfs } from "./withheld-vfs.ts";
import { writeRequest } from "./write-request.ts";

export interface PassDeps extends Pick<
  ConfigureDeps,
  | "timing"
  | "observeHost"
  | "withRecordDeadline"
  | "loadVhostModules"
  | "refusedChanges"
  | "missingInterfaces"
  | "vfHolders"
  | "uncleanVfs"
  | "keepUdevRules"
  | "beginPass"
  | "guard"
  | "maxPfs"
  | "maxHanging"
  | "runningSteps"
  | "isDrainDisabled"
  | "isDrainNeededElsewhere"
  | "withdrawals"
> {
  readonly host: Host;
  readonly transport: Transport;
  /** Prepares drains of single VFs; absent where the kubelet cannot be asked. Then all drains are drains of the node. */
  readonly withheldVfs?: WithheldVfs | undefined;
  readonly useExternalDrainer: boolean;
  /** Called before a request for a drain is written. */
  readonly onDrainRequest?: (request: DrainRequest, state: SriovNetworkNodeState) => void;
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
export type Pass = (state: SriovNetworkNodeState, passSignal: AbortSignal) => Promise<PassOutcome>;

export function createPass(deps: PassDeps): Pass {
  const { runningSteps, metrics, loop, log, report, signal } = deps;
  const retries = createRetries(deps);
  let isLockCleared = false;

  return async function pass(state, passSignal) {
    const stop = AbortSignal.any([passSignal, signal]);
    loop.progress();
    const { afterMs, hasFailed } = await retries(
      () => run(state, stop),
      async (phase) => {
        metrics.reported(phase);
        await report(state, phase, undefined);
      },
    );
    const changesMs = [
      runningSteps.nextChangeMs(),
      deps.missingInterfaces?.nextChangeMs(),
      deps.withheldVfs?.nextChangeMs(),
      deps.uncleanVfs?.nextChangeMs(),
    ];
    const nextMs = Math.min(afterMs, ...changesMs.filter((ms) => ms !== undefined));
    loop.idle(nextMs);
    return { afterMs: nextMs, hasFailed };
  };

  async function run(state: SriovNetworkNodeState, stop: AbortSignal) {
    if (!isLockCleared && hasLockCondition(state)) await deps.lockCondition.clear(stop);
    isLockCleared = true;
    deps.withdrawals?.passBegins(state);
    const carrier = { type: sriovNetworkNodeStates, ...state };
    await setDrainer(deps.useExternalDrainer, state, deps.transport, stop);
    return await configureNode(
      state,
      {
        ...deps,
        requestDrain: (change, found) =>
          writeRequest(change, {
            carrier,
            found,
            transport: deps.transport,
            withheldVfs: deps.withheldVfs,
            onRequest: (request) => deps.onDrainRequest?.(request, state),
            signal: stop,
          }),
        withdrawRequest() {
          deps.withheldVfs?.forget();
          if (requestOf(state) !== "Idle") deps.onDrainRequest?.("Idle", state);
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
}
