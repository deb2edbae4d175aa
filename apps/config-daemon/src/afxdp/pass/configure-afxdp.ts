// SPDX-License-Identifier: Apache-2.0
/** configureAfxdp is one pass over the AF_XDP devices of the node, in the frame of run-rounds.ts. */
import {
  ok,
  type AfxdpInterfaceSpec,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodeState,
  type AfxdpNetworkNodeStateSpec,
  type Result,
} from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import {
  describeAfxdpStep,
  deviceIdOf,
  planAfxdp,
  type AfxdpPlan,
  type AfxdpStep,
  type PlanProblem,
} from "@switchyard/plan";
import type { SriovUse } from "@switchyard/policy";
import type { WithDeadline } from "../../deadlines/with-deadline.ts";
import { keepAfxdpRule } from "../../udev/keep-rules.ts";
import { isRequestOver, runRounds, type FailedStep, type Owned, type PassResult } from "../../pass/run-rounds.ts";
import type { Phase } from "../../report/phase.ts";
import type { KeepAfxdpBoot } from "../../systemd/afxdp-boot.ts";
import { observeAfxdp, type ObserveAfxdpOptions } from "../observe/observe-afxdp.ts";
import type { PodHolders } from "./pod-holders.ts";
import type { RecentUses } from "../observe/recent-uses.ts";
import type { AfxdpSteps } from "./apply-afxdp-steps.ts";
import { ownDevices } from "./own-devices.ts";
import type { RefusedDevices } from "./refused-devices.ts";
import type { SubfunctionSupport } from "./subfunction-support.ts";

export interface ConfigureAfxdpDeps {
  /** Limits the time of an observation and of writing records. */
  readonly withDeadline: WithDeadline;
  readonly applySteps: AfxdpSteps;
  /** Remembers changes that the host refuses from pass to pass. */
  readonly refusedDevices: RefusedDevices;
  readonly apiServerAddresses?: ObserveAfxdpOptions["apiServerAddresses"];
  /** What the host has used devices for until now; nothing is remembered without it. */
  readonly recentUses?: Pick<RecentUses, "keep"> | undefined;
  /** Asks the kubelet which devices pods have; the devices show it alone without it. */
  readonly podHolders?: Pick<PodHolders, "addTo"> | undefined;
  /** Devices that turned out to have no subfunctions. */
  readonly subfunctionSupport: SubfunctionSupport;
  /** Returns how SR-IOV policies use a device. */
  readonly sriovUse: SriovUse;
  /** The drain of the node. */
  readonly drain: AfxdpDrain;
  /** Keeps the configuration of the next boot; only in systemd mode. */
  readonly keepBoot?: KeepAfxdpBoot | undefined;
  /** Writes the status if it differs; rejects with KubeError. */
  readonly report: (phase: Phase, found: readonly AfxdpInterfaceStatus[] | undefined) => Promise<void>;
  /** Called when a step ends. */
  readonly onStep: (step: AfxdpStep, failure: FailedStep<AfxdpStep> | undefined) => void;
  /** Called when an observation begins. */
  readonly onObserve?: () => void;
}

type Devices = readonly AfxdpInterfaceStatus[];

export interface AfxdpDrain {
  /** Reports whether steps that disrupt pods may run now. */
  isDrained(): boolean;
  /** Sets whether the devices need a drain. */
  setNeeded(isNeeded: boolean): void;
}

/** Rejects with KubeError if the API server cannot be reached. Errors of the host are reported and not thrown. */
export async function configureAfxdp(
  state: AfxdpNetworkNodeState,
  deps: ConfigureAfxdpDeps,
  signal: AbortSignal,
): Promise<PassResult> {
  const { applySteps, drain, refusedDevices, report } = deps;
  const desired = state.spec ?? {};
  let before = state.status?.interfaces;
  return runRounds<AfxdpStep, Devices, AfxdpPlan>(
    {
      async observe() {
        const seen = await observe(desired, before, deps, signal);
        if (!seen.ok) return seen;
        before = seen.value;
        return ok(refusedDevices.addTo(seen.value, desired));
      },
      plan: (found) => ok(planAfxdp(desired, { interfaces: found }, deps.sriovUse)),
      drain: {
        decide(next, round) {
          const isNeeded = next.impact === "drain";
          if (isNeeded && !drain.isDrained()) return { mustWait: true, change: { request: "Drain_Required" } };
          // The request stays while a step hangs: the state of its device is unknown, so no pod may get it.
          const isOver = !isNeeded && isRequestOver(next, round) && !applySteps.isHanging();
          return { mustWait: false, ...(isOver && { change: "withdraw" }) };
        },
        write(change) {
          drain.setNeeded(change !== "withdraw");
          return Promise.resolve();
        },
        keepsRequest: () => false,
      },
      own: (next, found) => own(desired, next, found, deps),
      apply: ({ steps }, _found, onStep) =>
        applySteps.run(steps, {
          signal,
          onStep(step, failure) {
            deps.onStep(step, failure);
            onStep(step, failure);
          },
        }),
      stepsEnded(ended) {
        refusedDevices.ended(ended, { desired, isDrained: drain.isDrained() });
      },
      describe: describeAfxdpStep,
      report,
      reportRunning: report,
    },
    signal,
  );
}

async function observe(
  spec: AfxdpNetworkNodeStateSpec,
  before: Devices | undefined,
  { withDeadline, apiServerAddresses, recentUses, podHolders, subfunctionSupport, onObserve }: ConfigureAfxdpDeps,
  signal: AbortSignal,
): Promise<Result<Devices, string>> {
  onObserve?.();
  const seen = await withDeadline((host) => observeAfxdp(host, { spec, before, apiServerAddresses }));
  if (!seen.ok) return seen;
  const used = recentUses === undefined ? seen.value : recentUses.keep(seen.value, before);
  const supported = subfunctionSupport.addTo(used);
  return ok(podHolders === undefined ? supported : await podHolders.addTo(supported, signal));
}

/** The devices that the plan changes or finds configured. A device that the plan refuses does not become Switchyard's. */
function ownable({ interfaces = [] }: AfxdpNetworkNodeStateSpec, next: AfxdpPlan): readonly AfxdpInterfaceSpec[] {
  const changed = new Set(next.steps.map(({ device }) => device));
  const refused = (index: number) => next.problems.some(({ field }) => field.startsWith(`spec.interfaces[${index}]`));
  return interfaces.filter((spec, index) => changed.has(deviceIdOf(spec)) || !refused(index));
}

/** The next boot must not take a device that the host uses: the routes to the API server are not known then. */
function bootable({ interfaces = [] }: AfxdpNetworkNodeStateSpec, next: AfxdpPlan): readonly AfxdpInterfaceSpec[] {
  const used = new Set(next.problems.filter(({ code }) => code === "used-by-host").map(({ field }) => field));
  return interfaces.filter((_spec, index) => !used.has(`spec.interfaces[${index}]`));
}

/** Records the devices, and prepares the next boot. */
async function own(
  desired: AfxdpNetworkNodeStateSpec,
  next: AfxdpPlan,
  found: Devices,
  { withDeadline, keepBoot }: ConfigureAfxdpDeps,
): Promise<Result<Owned, string>> {
  const { steps } = next;
  return withDeadline(async (host) => {
    const owned = ownable(desired, next);
    const isOutdated = await ownDevices(host, owned, { found, steps });
    const rules = await keepRules(host, owned, found);
    const bootProblem = await keepBoot?.(host, bootable(desired, next));
    // Only as long as the devices differ: the daemon repairs what the boot has not configured.
    const problems = [...rules, ...(bootProblem === undefined || steps.length === 0 ? [] : [bootProblem])];
    return { isOutdated, problems };
  });
}

/** Returns a problem for each rule that could not be written: the device works without it. */
async function keepRules(
  host: Host,
  owned: readonly AfxdpInterfaceSpec[],
  found: Devices,
): Promise<readonly PlanProblem[]> {
  const present = new Set(found.map(deviceIdOf));
  const problems: PlanProblem[] = [];
  for (const spec of owned.filter((each) => present.has(deviceIdOf(each)))) {
    const id = deviceIdOf(spec);
    await keepAfxdpRule(host, id, spec).catch((error: unknown) => {
      if (!(error instanceof HostError)) throw error;
      problems.push({ code: "udev-rules", field: "spec.interfaces", message: `${id}: ${error.message}` });
    });
  }
  return problems;
}
