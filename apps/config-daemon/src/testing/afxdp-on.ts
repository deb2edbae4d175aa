// SPDX-License-Identifier: Apache-2.0
/** afxdpOn runs passes over the AF_XDP devices of a fake kernel, without an API server. */
import type { AfxdpInterfaceStatus, AfxdpNetworkNodeStateSpec } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { systemKernelClock } from "@switchyard/host/testing";
import type { SriovUse } from "@switchyard/policy";
import { setTimeout as delay } from "node:timers/promises";
import type { PodHolders } from "../afxdp/pass/pod-holders.ts";
import type { RecentUses } from "../afxdp/observe/recent-uses.ts";
import { createAfxdpSteps } from "../afxdp/pass/apply-afxdp-steps.ts";
import { configureAfxdp } from "../afxdp/pass/configure-afxdp.ts";
import { createRefusedDevices } from "../afxdp/pass/refused-devices.ts";
import { createSubfunctionSupport } from "../afxdp/pass/subfunction-support.ts";
import { createWithDeadline } from "../deadlines/with-deadline.ts";
import type { KeepAfxdpBoot } from "../systemd/afxdp-boot.ts";
import type { PassResult } from "../pass/run-rounds.ts";
import { errorOf, type Phase } from "../report/phase.ts";

export interface AfxdpTestOptions {
  /** Whether steps that disrupt pods may run; they may by default. */
  readonly isDrained?: () => boolean;
  readonly sriovUse?: SriovUse;
  readonly keepBoot?: KeepAfxdpBoot;
  /** Without it, the daemon forgets at once what the host used a device for. */
  readonly recentUses?: Pick<RecentUses, "keep">;
  /** Without it, the devices alone show whether pods have them. */
  readonly podHolders?: Pick<PodHolders, "addTo">;
  /** Time after which a step counts as hanging; a minute by default. */
  readonly stepDeadlineMs?: number;
  /** The clock of refused changes; that of the system by default. */
  readonly nowMs?: () => number;
}

/** Runs passes and collects their reports. */
export function afxdpOn(host: Host, options: AfxdpTestOptions = {}) {
  const { isDrained = () => true, sriovUse = () => undefined, stepDeadlineMs = 60_000, keepBoot, recentUses } = options;
  const { podHolders } = options;
  const phases: Phase[] = [];
  const needs: boolean[] = [];
  let shown: readonly AfxdpInterfaceStatus[] = [];
  // The deadlines of a killed daemon must not keep the process alive.
  const sleep = (ms: number, signal: AbortSignal) =>
    delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const timing = { stepDeadlineMs, linkTimeoutMs: 200, udevTimeoutMs: 1_000, nowMs: systemKernelClock.nowMs, sleep };
  const deps = { timing, now: () => new Date() };
  const withDeadline = createWithDeadline(host, deps);
  const subfunctionSupport = createSubfunctionSupport();
  const applySteps = createAfxdpSteps(host, { ...deps, maxPfs: 4, subfunctionSupport });
  const refusedDevices = createRefusedDevices({ nowMs: options.nowMs ?? systemKernelClock.nowMs });
  return {
    phases,
    /** The drains that the passes asked for. */
    needs,
    /** The error in the last report. */
    error: () => phases.slice(-1).map(errorOf).join(),
    /** The devices of the last report. */
    shown: () => shown,
    pass: (spec: AfxdpNetworkNodeStateSpec, signal = new AbortController().signal): Promise<PassResult> =>
      configureAfxdp(
        {
          apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
          kind: "AfxdpNetworkNodeState",
          metadata: { name: "worker-1" },
          spec,
          status: { interfaces: shown },
        },
        {
          withDeadline,
          applySteps,
          refusedDevices,
          sriovUse,
          keepBoot,
          recentUses,
          podHolders,
          subfunctionSupport,
          drain: { isDrained, setNeeded: (isNeeded) => needs.push(isNeeded) },
          onStep: () => undefined,
          report(phase, found) {
            phases.push(phase);
            if (found !== undefined) shown = found;
            return Promise.resolve();
          },
        },
        signal,
      ),
  };
}
