// SPDX-License-Identifier: Apache-2.0
/**
 * configureAfxdp is one pass over the AF_XDP devices of the node: it observes, plans, waits for a drain if the plan disrupts
 * pods, records the devices, applies the steps, observes again and reports, as configure-node.ts does for SR-IOV.
 */
import type {
  AfxdpInterfaceSpec,
  AfxdpInterfaceStatus,
  AfxdpNetworkNodeState,
  AfxdpNetworkNodeStateSpec,
} from "@switchyard/api";
import { HostError } from "@switchyard/host";
import {
  describeAfxdpStep,
  deviceIdOf,
  planAfxdp,
  type AfxdpPlan,
  type AfxdpStep,
  type PlanProblem,
} from "@switchyard/plan";
import type { SriovUse } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import type { WithDeadline } from "../../deadlines/with-deadline.ts";
import type { PassResult } from "../../pass/configure-node.ts";
import type { Phase } from "../../report/phase.ts";
import type { KeepAfxdpBoot } from "../../systemd/afxdp-boot.ts";
import { observeAfxdp, type ObserveAfxdpOptions } from "../observe/observe-afxdp.ts";
import type { RecentUses } from "../observe/recent-uses.ts";
import type { AfxdpStepFailure, ApplyAfxdpSteps } from "./apply-afxdp-steps.ts";
import { ownDevices } from "./own-devices.ts";

export interface ConfigureAfxdpDeps {
  /** Limits the time of an observation and of writing records. */
  readonly withDeadline: WithDeadline;
  readonly applySteps: ApplyAfxdpSteps;
  readonly apiServerAddresses?: ObserveAfxdpOptions["apiServerAddresses"];
  /** What the host has used devices for until now; nothing is remembered without it. */
  readonly recentUses?: Pick<RecentUses, "keep"> | undefined;
  /** Returns how SR-IOV policies use a device. */
  readonly sriovUse: SriovUse;
  /** The drain of the node. */
  readonly drain: AfxdpDrain;
  /** Keeps the configuration of the next boot; only in systemd mode. */
  readonly keepBoot?: KeepAfxdpBoot | undefined;
  /** Writes the status if it differs; rejects with KubeError. */
  readonly report: (phase: Phase, found: readonly AfxdpInterfaceStatus[] | undefined) => Promise<void>;
  /** Called when a step ends. */
  readonly onStep: (step: AfxdpStep, failure: AfxdpStepFailure | undefined) => void;
  /** Called when an observation begins. */
  readonly onObserve?: () => void;
}

export interface AfxdpDrain {
  /** Reports whether steps that disrupt pods may run now. */
  isDrained(): boolean;
  /** Sets whether the devices need a drain. */
  setNeeded(isNeeded: boolean): void;
}

/** A plan can need a second one, because settings are observed only after their interface exists. */
const maxRounds = 4;

/** Rejects with KubeError if the API server cannot be reached. Errors of the host are reported and not thrown. */
export async function configureAfxdp(
  state: AfxdpNetworkNodeState,
  deps: ConfigureAfxdpDeps,
  signal: AbortSignal,
): Promise<PassResult> {
  const desired = state.spec ?? {};
  let before = state.status?.interfaces;
  let done: readonly AfxdpStep[] = [];
  for (let round = 1; ; round++) {
    const found = await observe(desired, before, deps);
    if (found === undefined) return "retry";
    before = found;
    const next = planAfxdp(desired, { interfaces: found }, deps.sriovUse);
    if (signal.aborted && round > 1) {
      await deps.report(phaseOf(next), found); // the next daemon may start much later
      signal.throwIfAborted();
    }
    const repeated = next.steps.filter((step) => done.some((earlier) => isDeepStrictEqual(earlier, step)));
    if (repeated.length > 0 || round > maxRounds) {
      const failures = (repeated.length > 0 ? repeated : next.steps).map(withoutEffect);
      await deps.report({ kind: "failed", failures, problems: next.problems }, found);
      return "retry";
    }
    if (next.impact === "drain" && !deps.drain.isDrained()) {
      deps.drain.setNeeded(true);
      await deps.report({ kind: "waiting-for-drain", reasons: next.reasons }, found);
      return "waiting";
    }
    // The request stays until the steps that it is for have ended.
    if (round === 1 && next.impact === "none") deps.drain.setNeeded(false);
    const owning = await own(desired, next, found, deps);
    if (owning === "failed") return "retry";
    if (owning.isChanged) continue; // the next observation includes the new records
    if (next.steps.length === 0) {
      deps.drain.setNeeded(false);
      await deps.report(phaseOf(next), found);
      return "settled";
    }
    // Only as long as the devices differ: the daemon repairs what the boot has not configured.
    const problems = [...next.problems, ...(owning.bootProblem === undefined ? [] : [owning.bootProblem])];
    const applied = await apply(desired, { ...next, problems }, found, { deps, signal });
    if (applied === undefined) return "retry";
    done = applied;
  }
}

function phaseOf({ steps, problems }: AfxdpPlan): Phase {
  return steps.length === 0 ? { kind: "settled", problems } : { kind: "configuring", stepCount: steps.length };
}

/** Returns undefined if the host cannot be read, after it has reported that. */
async function observe(
  spec: AfxdpNetworkNodeStateSpec,
  before: readonly AfxdpInterfaceStatus[] | undefined,
  { withDeadline, apiServerAddresses, recentUses, report, onObserve }: ConfigureAfxdpDeps,
): Promise<readonly AfxdpInterfaceStatus[] | undefined> {
  onObserve?.();
  try {
    const seen = await withDeadline((host) => observeAfxdp(host, { spec, before, apiServerAddresses }));
    if (seen.ok) return recentUses?.keep(seen.value, before) ?? seen.value;
    await report({ kind: "discovery-failed", message: seen.error }, undefined);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    await report({ kind: "discovery-failed", message: thrown.message }, undefined);
  }
  return undefined;
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

interface Owned {
  /** Whether the status does not show the records yet. */
  readonly isChanged: boolean;
  readonly bootProblem: PlanProblem | undefined;
}

/** Records the devices, and prepares the next boot. */
async function own(
  desired: AfxdpNetworkNodeStateSpec,
  next: AfxdpPlan,
  found: readonly AfxdpInterfaceStatus[],
  { withDeadline, keepBoot, report }: ConfigureAfxdpDeps,
): Promise<Owned | "failed"> {
  const { steps, problems } = next;
  try {
    const owned = await withDeadline(async (host): Promise<Owned> => {
      const isChanged = await ownDevices(host, ownable(desired, next), { found, steps });
      return { isChanged, bootProblem: await keepBoot?.(host, bootable(desired, next)) };
    });
    if (owned.ok) return owned.value;
    await report({ kind: "failed", failures: [{ message: owned.error }], problems }, found);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    await report({ kind: "failed", failures: [thrown], problems }, found);
  }
  return "failed";
}

/** Runs the steps and returns those that succeeded, or undefined if one failed. A failure is reported at once and at the end. */
async function apply(
  desired: AfxdpNetworkNodeStateSpec,
  { steps, problems }: AfxdpPlan,
  found: readonly AfxdpInterfaceStatus[],
  { deps, signal }: { readonly deps: ConfigureAfxdpDeps; readonly signal: AbortSignal },
): Promise<readonly AfxdpStep[] | undefined> {
  const failures: AfxdpStepFailure[] = [];
  // The steps do not wait for the API server. If a report cannot be written now, the next report replaces it.
  const interim: Promise<unknown>[] = [];
  const reportInterim = (phase: Phase): void => {
    interim.push(deps.report(phase, found).catch(() => undefined));
  };
  reportInterim({ kind: "configuring", stepCount: steps.length });
  const done = await deps.applySteps(steps, {
    signal,
    onStep(step, failure) {
      deps.onStep(step, failure);
      if (failure === undefined) return;
      failures.push(failure);
      reportInterim({ kind: "failed", failures: [...failures], problems });
    },
  });
  await Promise.all(interim);
  if (failures.length === 0) return done;
  const after = await observe(desired, found, deps);
  if (after !== undefined) await deps.report({ kind: "failed", failures, problems }, after);
  return undefined;
}

function withoutEffect(step: AfxdpStep): AfxdpStepFailure {
  return { step, message: `${describeAfxdpStep(step)}: reported success, but had no effect on the host` };
}
