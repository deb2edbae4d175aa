// SPDX-License-Identifier: Apache-2.0
/** createAfxdpPass wraps configureAfxdp with logs and error handling, as pass.ts does for SR-IOV. */
import type { AfxdpNetworkNodeState, SriovNetworkNodeState } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import type { Requeue, Transport } from "@switchyard/kube";
import { describeAfxdpStep } from "@switchyard/plan";
import { sriovUse, toPfAddresses } from "@switchyard/policy";
import type { Logger } from "@switchyard/service";
import { createWithDeadline, type DeadlineDeps } from "../../deadlines/with-deadline.ts";
import { createRetries } from "../../pass/retries.ts";
import type { ReadKubeletDevices } from "../../kubelet/kubelet.ts";
import { createPodHolders } from "./pod-holders.ts";
import { createRecentUses } from "../observe/recent-uses.ts";
import { settlingMs } from "../orphaned-programs/orphaned-programs.ts";
import type { ReportAfxdp } from "../report/afxdp-reports.ts";
import { createRefusedDevices } from "./refused-devices.ts";
import { createSubfunctionSupport } from "./subfunction-support.ts";
import { createAfxdpSteps } from "./apply-afxdp-steps.ts";
import { configureAfxdp, type ConfigureAfxdpDeps } from "./configure-afxdp.ts";
import { createOwnDrain, type DrainDemand } from "../../pass/drain-demand.ts";

export interface AfxdpPassDeps
  extends DeadlineDeps, Pick<ConfigureAfxdpDeps, "apiServerAddresses" | "onObserve" | "keepBoot"> {
  readonly host: Host;
  readonly transport: Transport;
  readonly maxPfs: number;
  /** Returns the AfxdpNetworkNodeState of the node from the cache. */
  readonly state: () => AfxdpNetworkNodeState | undefined;
  /** Returns the SriovNetworkNodeState of the node from the cache. */
  readonly sriovState: () => SriovNetworkNodeState | undefined;
  /** The present value of AfxdpOperatorConfig.spec.disableDrain. */
  readonly isDrainDisabled: () => boolean;
  /** Asks the kubelet for the devices of pods. */
  readonly readKubelet?: ReadKubeletDevices | undefined;
  readonly demand: DrainDemand;
  readonly report: ReportAfxdp;
  readonly log: Logger;
  /** Ends a pass after the steps that are running. */
  readonly signal: AbortSignal;
}

/** Resolves with the time until the next pass; undefined while the node has no AfxdpNetworkNodeState. */
export type AfxdpPass = (passSignal: AbortSignal) => Promise<Requeue | undefined>;

export function createAfxdpPass(deps: AfxdpPassDeps): AfxdpPass {
  const { host, demand, log, report, signal } = deps;
  const withDeadline = createWithDeadline(host, deps);
  const subfunctionSupport = createSubfunctionSupport();
  const applySteps = createAfxdpSteps(host, { ...deps, subfunctionSupport });
  const refusedDevices = createRefusedDevices({ nowMs: () => deps.timing.nowMs() });
  const ownDrain = createOwnDrain(deps);
  const recentUses = createRecentUses(() => deps.timing.nowMs());
  const nowMs = (): number => deps.timing.nowMs();
  const { readKubelet } = deps;
  const podHolders = readKubelet && createPodHolders({ readKubelet, nowMs });
  const retries = createRetries(deps);

  return async function pass(passSignal) {
    const state = deps.state();
    if (state === undefined) {
      demand.setNeeded(false);
      return undefined;
    }
    const sriovState = deps.sriovState();
    demand.passBegins(sriovState ?? state);
    const stop = AbortSignal.any([passSignal, signal]);
    const { afterMs } = await retries(
      async () => {
        const result = await configureAfxdp(
          state,
          {
            withDeadline,
            applySteps,
            refusedDevices,
            apiServerAddresses: deps.apiServerAddresses,
            keepBoot: deps.keepBoot,
            recentUses,
            podHolders,
            subfunctionSupport,
            ...(deps.onObserve && { onObserve: deps.onObserve }),
            sriovUse: sriovUse({ spec: sriovState?.spec, pfs: toPfAddresses(sriovState?.status?.interfaces) }),
            drain: {
              isDrained: () => deps.isDrainDisabled() || demand.isDrainedFor("Drain_Required", sriovState ?? state),
              setNeeded: demand.setNeeded,
            },
            report: (phase, found) => report(state, phase, found),
            onStep(step, failure) {
              if (failure === undefined) log.info({ step: describeAfxdpStep(step) }, "step done");
              else log.warn({ step: describeAfxdpStep(step), error: failure.message }, "step failed");
            },
          },
          stop,
        );
        await ownDrain.sync(state, sriovState, stop);
        return result;
      },
      (phase) => report(state, phase, undefined),
    );
    const untilSettledMs = podHolders?.isUnsettled() === true ? settlingMs : Infinity;
    return { afterMs: Math.min(afterMs, recentUses.nextEndMs() ?? Infinity, untilSettledMs) };
  };
}
