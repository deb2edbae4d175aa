// SPDX-License-Identifier: Apache-2.0
/**
 * configureOffline is a pass without an API server, for the commands of the daemon: it drains nothing, reports to its caller,
 * and leaves the firmware of cards as it is.
 */
import { defined, ok, type SriovNetworkNodeState, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { isMellanox, type Plan } from "@switchyard/plan";
import { createWithDeadline, type DeadlineDeps, type StepTiming } from "../deadlines/with-deadline.ts";
import type { ConnectivityGuard } from "../guard/connectivity-guard.ts";
import type { FirmwareReader } from "../observe/firmware/firmware-reader.ts";
import type { ObserveOptions } from "../observe/observe.ts";
import { createObserver } from "../observe/observer.ts";
import { errorOf, type Phase } from "../report/phase.ts";
import { configureNode, type ConfigureDeps } from "./configure-node.ts";
import { createRefusedChanges } from "./refused-changes.ts";
import { createRunningSteps } from "./running-steps.ts";

export interface OfflineOptions extends Pick<ConfigureDeps, "maxPfs" | "maxHanging" | "onStep"> {
  readonly host: Host;
  readonly timing: StepTiming;
  /** What is known about the host; nothing by default. */
  readonly hostNetwork?: ObserveOptions;
  /** Why firmware settings are not changed. */
  readonly firmwareReason: string;
  readonly keepUdevRules: (deps: DeadlineDeps) => ConfigureDeps["keepUdevRules"];
  readonly loadVhostModules: (deps: DeadlineDeps) => ConfigureDeps["loadVhostModules"];
  /** Knows the changes that the node has undone; none by default. */
  readonly guard?: Pick<ConnectivityGuard, "addTo">;
  /** Returns the part of a plan that is carried out. */
  readonly limit: (plan: Plan) => Plan;
  /** Ends after the steps that are running. */
  readonly signal: AbortSignal;
}

/** Resolves with an error in one line; "" if there is none. Rejects with HostError. */
export async function configureOffline(spec: SriovNetworkNodeStateSpec, options: OfflineOptions): Promise<string> {
  const { host, timing, maxPfs, maxHanging, onStep, limit, signal } = options;
  const now = () => new Date();
  const deps = { timing, now };
  let last: Phase | undefined;
  await configureNode(
    stateOf(spec),
    {
      host,
      timing,
      maxPfs,
      maxHanging,
      onStep,
      runningSteps: createRunningSteps({ nowMs: () => timing.nowMs(), now }),
      observeHost: createObserver(host, {
        ...deps,
        ...options.hostNetwork,
        firmware: unavailable(options.firmwareReason),
      }),
      withRecordDeadline: createWithDeadline(host, deps),
      loadVhostModules: options.loadVhostModules(deps),
      refusedChanges: createRefusedChanges({ nowMs: () => timing.nowMs() }),
      keepUdevRules: options.keepUdevRules(deps),
      beginPass: () => Promise.resolve(ok(limit)),
      ...defined({ guard: options.guard }),
      isDrainDisabled: () => true,
      requestDrain: () => Promise.resolve(),
      withdrawRequest: () => Promise.resolve(false),
      report(next) {
        last = next;
        return Promise.resolve();
      },
      onPlan: () => undefined,
      onApplied: () => undefined,
      onLateEnd: () => undefined,
    },
    signal,
  );
  return last === undefined ? "" : errorOf(last);
}

/** The programs for firmware settings are in the image of the daemon, and a command must not depend on them. */
function unavailable(reason: string): Pick<FirmwareReader, "addTo"> {
  return {
    addTo: (pfs) =>
      Promise.resolve(pfs.map((pf) => (isMellanox(pf) ? { ...pf, firmware: { unavailable: reason } } : pf))),
  };
}

function stateOf(spec: SriovNetworkNodeStateSpec): SriovNetworkNodeState {
  return { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodeState", metadata: { name: "" }, spec };
}
