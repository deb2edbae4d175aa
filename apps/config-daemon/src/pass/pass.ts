// SPDX-License-Identifier: Apache-2.0
/**
 * createPass wraps configureNode with metrics, logs and error handling. Errors of the host are reported by configure-node.ts, all
 * other errors by retries.ts.
 */
import { sriovNetworkNodeStates, type DrainRequest, type SriovNetworkNodeState } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { isKubeError, type Transport } from "@switchyard/kube";
import { describeStep, type Step } from "@switchyard/plan";
import type { HeldVfs, VfSet } from "@switchyard/policy";
import type { Logger } from "@switchyard/service";
import { hasLockCondition, type LockCondition } from "../lock/lock-condition.ts";
import type { FirmwareReader } from "../observe/firmware/firmware-reader.ts";
import type { DaemonMetrics } from "../report/daemon-metrics.ts";
import type { Report } from "../report/reporter.ts";
import type { StepFailure } from "./apply-steps.ts";
import { configureNode, type ConfigureDeps } from "./configure-node.ts";
import {
  announceVfs,
  requestDrain,
  requestOf,
  setDrainer,
  withdrawRequest,
  type DrainCarrier,
} from "./drain-request.ts";
import type { MainLoop } from "./main-loop.ts";
import { createRetries, type PassOutcome } from "./retries.ts";
import type { Preparation, WithheldVfs } from "./withheld-vfs.ts";

export interface PassDeps extends Pick<
  ConfigureDeps,
  | "timing"
  | "observeHost"
  | "withRecordDeadline"
  | "loadVhostModules"
  | "refusedChanges"
  | "missingInterfaces"
  | "vfHolders"
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
        async requestDrain({ request, vfs }, found) {
          const isPrepared = vfs !== undefined && request === "Drain_Required" && requestOf(state) !== request;
          const preparation = isPrepared ? await prepare(vfs, found, carrier, stop) : "ready";
          if (preparation === "wait") return;
          deps.onDrainRequest?.(request, state);
          const withheld = preparation === "ready" ? vfs : undefined;
          await requestDrain(request, carrier, deps.transport, stop, withheld);
        },
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

  /** Announces the VFs of a drain before it is requested. */
  async function prepare(vfs: VfSet, found: HeldVfs, carrier: DrainCarrier, stop: AbortSignal): Promise<Preparation> {
    const { withheldVfs, transport } = deps;
    if (withheldVfs === undefined || found.holders === undefined) return "impossible";
    try {
      await announceVfs(vfs, carrier, transport, stop);
    } catch (error) {
      // An operator of an older release does not allow the daemon to write the annotation.
      if (isKubeError(error, "Forbidden", "Invalid")) return "impossible";
      throw error;
    }
    return withheldVfs.prepare(vfs, found, stop);
  }

  function onStep(step: Step, failure: StepFailure | undefined): void {
    loop.progress();
    deps.firmware.stepEnded(step);
    metrics.stepEnded(step, failure !== undefined);
    if (failure === undefined) log.info({ step: describeStep(step) }, "step done");
    else log.warn({ step: describeStep(step), error: failure.message }, "step failed");
  }
}
