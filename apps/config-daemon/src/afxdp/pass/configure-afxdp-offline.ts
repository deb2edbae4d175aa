// SPDX-License-Identifier: Apache-2.0
/**
 * configureAfxdpOffline is a pass over the AF_XDP devices without an API server, for the commands of the daemon: it drains nothing
 * and reports to its caller.
 */
import type { AfxdpInterfaceStatus, AfxdpNetworkNodeStateSpec } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { createWithDeadline, type StepTiming } from "../../deadlines/with-deadline.ts";
import { errorOf, type Phase } from "../../report/phase.ts";
import { createAfxdpSteps } from "./apply-afxdp-steps.ts";
import { createRefusedDevices } from "./refused-devices.ts";
import { createSubfunctionSupport } from "./subfunction-support.ts";
import { configureAfxdp, type ConfigureAfxdpDeps } from "./configure-afxdp.ts";

export interface AfxdpOfflineOptions extends Pick<ConfigureAfxdpDeps, "sriovUse" | "apiServerAddresses" | "onStep"> {
  readonly host: Host;
  readonly timing: StepTiming;
  /** Devices that are configured in parallel. */
  readonly maxPfs: number;
  /** Ends after the steps that are running. */
  readonly signal: AbortSignal;
}

export interface AfxdpOfflineResult {
  /** One line; "" if there is no error. */
  readonly error: string;
  /** The devices as last observed; undefined if they could not be read. */
  readonly interfaces: readonly AfxdpInterfaceStatus[] | undefined;
}

/** Errors of the host are in the result. */
export async function configureAfxdpOffline(
  spec: AfxdpNetworkNodeStateSpec,
  { host, timing, maxPfs, sriovUse, apiServerAddresses, onStep, signal }: AfxdpOfflineOptions,
): Promise<AfxdpOfflineResult> {
  const deps = { timing, now: () => new Date() };
  const subfunctionSupport = createSubfunctionSupport();
  let last: Phase | undefined;
  let interfaces: readonly AfxdpInterfaceStatus[] | undefined;
  await configureAfxdp(
    {
      apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
      kind: "AfxdpNetworkNodeState",
      metadata: { name: "" },
      spec,
    },
    {
      sriovUse,
      apiServerAddresses,
      onStep,
      withDeadline: createWithDeadline(host, deps),
      applySteps: createAfxdpSteps(host, { ...deps, maxPfs, subfunctionSupport }),
      subfunctionSupport,
      refusedDevices: createRefusedDevices({ nowMs: () => timing.nowMs() }),
      drain: { isDrained: () => true, setNeeded: () => undefined },
      report(phase, found) {
        last = phase;
        interfaces = found ?? interfaces;
        return Promise.resolve();
      },
    },
    signal,
  );
  return { error: last === undefined ? "" : errorOf(last), interfaces };
}
