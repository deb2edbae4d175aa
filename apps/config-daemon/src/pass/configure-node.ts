// SPDX-License-Identifier: Apache-2.0
/**
 * configureNode is one pass over the SR-IOV devices of the node, in the frame of run-rounds.ts. It observes and plans without the
 * PFs on which a step hangs, records the PFs and keeps their udev rules.
 */
import {
  ok,
  type InterfaceSpec,
  type InterfaceStatus,
  type Result,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { describeStep, type Plan, type Step } from "@switchyard/plan";
import type { ConnectivityGuard } from "../guard/connectivity-guard.ts";
import type { WithDeadline } from "../deadlines/with-deadline.ts";
import type { Observation } from "../observe/observe.ts";
import type { MissingInterfaces } from "../observe/missing-interfaces.ts";
import type { ObserveHost } from "../observe/observer.ts";
import type { VfHolders } from "../observe/vf-holders.ts";
import type { Phase } from "../report/phase.ts";
import type { Found } from "../report/status-of.ts";
import { adoptUpstreamBridges, listManagedBridges } from "../upstream/managed-ovs-bridges.ts";
import { applySteps, type ApplyStepsOptions } from "./apply-steps.ts";
import { createDrainControl, type DrainControlDeps } from "./drain-control.ts";
import { ownPfs, recordAssignedMacs, type OwnedVfs } from "./own-pfs.ts";
import { planRound, withoutHanging, type PlanRoundDeps } from "./plan-round.ts";
import type { RefusedChanges } from "./refused-changes.ts";
import type { UncleanVfs } from "../unclean-vfs/unclean-vfs.ts";
import type { KeepUdevRules } from "../udev/keep-rules.ts";
import type { RunningSteps } from "./running-steps.ts";
import { runRounds, type Owned, type PassResult } from "./run-rounds.ts";
import type { LoadVhostModules } from "./vhost-modules.ts";

export interface ConfigureDeps
  extends
    DrainControlDeps,
    PlanRoundDeps,
    Pick<ApplyStepsOptions, "timing" | "maxPfs" | "maxHanging" | "runningSteps" | "onStep" | "onLateEnd"> {
  readonly host: Host;
  readonly observeHost: ObserveHost;
  /** Limits the time for writing the records of PFs and adopting bridges, because a disk can hang too. */
  readonly withRecordDeadline: WithDeadline;
  readonly loadVhostModules: LoadVhostModules;
  /** Remembers changes that the host refuses from pass to pass. */
  readonly refusedChanges: RefusedChanges;
  /** Finds VFs without interface; absent where the kubelet cannot be asked. */
  readonly missingInterfaces?: MissingInterfaces | undefined;
  /** Finds the pods that have VFs; absent where the kubelet cannot be asked. */
  readonly vfHolders?: Pick<VfHolders, "addTo"> | undefined;
  /** Finds VFs that a past pod has left with its settings; absent where the kubelet cannot be asked. */
  readonly uncleanVfs?: UncleanVfs | undefined;
  readonly keepUdevRules: KeepUdevRules;
  /** Called at the start of a pass on a node that is configured while it boots; absent on other nodes. */
  readonly beginPass?: BeginPass | undefined;
  /** Undoes changes that cut the node off from its network; the phases of a boot leave out the changes that were undone. */
  readonly guard?: Pick<ConnectivityGuard, "addTo"> & Partial<ConnectivityGuard>;
  /** Writes the status if it differs; rejects with KubeError. `found` has a boot id unless steps are still running. */
  readonly report: (phase: Phase, found: Found | undefined) => Promise<void>;
  /** Called when the steps of a plan have ended; `isDone` if all of them succeeded. */
  readonly onApplied: (apply: { readonly durationMs: number; readonly isDone: boolean }) => void;
}

/**
 * Returns a function that changes each plan of the pass before anything else uses it, or a sentence that says why the pass
 * cannot go on. `found` is the first observation of the pass, undefined if the host cannot be read.
 */
export type BeginPass = (
  desired: SriovNetworkNodeStateSpec,
  found: Observation | undefined,
) => Promise<Result<LimitPlan, string>>;
export type LimitPlan = (next: Plan, found: Observation) => Promise<Plan> | Plan;

/** Rejects with KubeError if the API server cannot be reached. Errors of the host are reported and not thrown. */
export async function configureNode(
  state: SriovNetworkNodeState,
  given: ConfigureDeps,
  signal: AbortSignal,
): Promise<PassResult> {
  const { runningSteps, refusedChanges } = given;
  const deps: ConfigureDeps = {
    ...given,
    report: (phase, found) => given.report(withHanging(phase, runningSteps), found),
  };
  const desired = state.spec ?? {};
  await settleGuard(deps, signal);
  await adoptBridges(deps);
  const missingVhostDevices = await deps.loadVhostModules(desired);
  let begun: Result<LimitPlan, string> | undefined;
  return runRounds<Step, Observation, Plan>(
    {
      async observe() {
        const seen = await observe(state, missingVhostDevices, { deps, signal });
        begun ??= await deps.beginPass?.(desired, seen.ok ? seen.value : undefined);
        return seen;
      },
      async plan(found) {
        if (begun?.ok === false) return begun;
        const planned = planRound(state, found, deps);
        return ok((await begun?.value(planned, found)) ?? planned);
      },
      drain: createDrainControl(state, deps),
      own: (next, found) => own(desired, next, found, deps),
      apply(next, found, onStep) {
        return apply(next, found, {
          ...deps,
          signal,
          onStep(step, failure) {
            deps.missingInterfaces?.stepEnded(step, failure !== undefined);
            deps.uncleanVfs?.stepEnded(step);
            deps.onStep(step, failure);
            onStep(step, failure);
          },
        });
      },
      stepsEnded(ended) {
        refusedChanges.ended(ended, desired);
      },
      describe: describeStep,
      report: deps.report,
      reportRunning: (phase, found) => deps.report(phase, whileRunning(found)),
    },
    signal,
  );
}

/** The observation reports why Open vSwitch does not answer. A file that cannot be removed is tried again by the next pass. */
async function adoptBridges({ withRecordDeadline }: ConfigureDeps): Promise<void> {
  try {
    await withRecordDeadline(adoptUpstreamBridges);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
  }
}

/** Decides about a change that was made. What cannot be decided now, because of an error of the host, is decided by the next pass. */
async function settleGuard({ guard }: ConfigureDeps, signal: AbortSignal): Promise<void> {
  await guard?.settle?.(signal).catch(ignoreHostError);
}

function withHanging(phase: Phase, runningSteps: RunningSteps): Phase {
  const hanging = runningSteps.describe();
  return hanging.length === 0 ? phase : { ...phase, hanging };
}

async function observe(
  { spec: desired = {}, status }: SriovNetworkNodeState,
  missingVhostDevices: readonly string[],
  { deps, signal }: { readonly deps: ConfigureDeps; readonly signal: AbortSignal },
): Promise<Result<Observation, string>> {
  const { runningSteps, observeHost, missingInterfaces, vfHolders, uncleanVfs, refusedChanges } = deps;
  const leftOut = runningSteps.hanging.flatMap(({ step, pf }): readonly InterfaceStatus[] =>
    "pciAddress" in step ? [pf ?? { pciAddress: step.pciAddress }] : [],
  );
  const seen = await observeHost(leftOut, desired);
  if (!seen.ok) return seen;
  const given = { desired, before: status?.interfaces ?? [] };
  const interfaces = (await missingInterfaces?.addTo(seen.value.interfaces, given, signal)) ?? seen.value.interfaces;
  const system = { ...seen.value.system, ...(missingVhostDevices.length > 0 && { missingVhostDevices }) };
  const withHolders = await vfHolders?.addTo(interfaces, status ?? {}, signal);
  const held: Observation = { ...seen.value, interfaces, system, ...withHolders };
  const compared = (await uncleanVfs?.addTo(held, given, signal)) ?? held.interfaces;
  const withRefused = refusedChanges.addTo({ ...held, interfaces: compared }, desired);
  return ok((await deps.guard?.addTo(withRefused, desired)) ?? withRefused);
}

/** The PFs that the plan changes or finds configured. A PF that the plan refuses does not become Switchyard's. */
function ownable(desired: SriovNetworkNodeStateSpec, next: Plan): readonly InterfaceSpec[] {
  const changed = new Set(next.steps.map((step) => ("pciAddress" in step ? step.pciAddress : undefined)));
  const refused = new Set(next.problems.map((problem) => problem.pciAddress));
  return (desired.interfaces ?? []).filter(({ pciAddress }) => changed.has(pciAddress) || !refused.has(pciAddress));
}

/** Records the PFs, and keeps their udev rules. */
async function own(
  desired: SriovNetworkNodeStateSpec,
  next: Plan,
  found: Observation,
  { runningSteps, withRecordDeadline, keepUdevRules, uncleanVfs, guard }: ConfigureDeps,
): Promise<Result<Owned, string>> {
  const wanted = ownable(withoutHanging(desired, runningSteps), next);
  const changesVfs = vfChangesOf(next);
  const macsToAssign = (pf: string): readonly number[] =>
    next.steps.flatMap((step) => (step.kind === "set-vf-mac" && step.pciAddress === pf ? [step.vfId] : []));
  const withSteps = new Set(next.steps.map((step) => ("pciAddress" in step ? step.pciAddress : undefined)));
  const initialVfsOf: OwnedVfs = (spec, pf, recorded) => {
    if (changesVfs(pf.pciAddress)) return undefined;
    return uncleanVfs?.toRecord(spec, pf, { ...found, recorded, isSettled: !withSteps.has(pf.pciAddress) });
  };
  const vfs = { changesVfs, macsToAssign, initialVfsOf };
  const owned = await withRecordDeadline((host) => ownPfs(host, wanted, { ...found, ...vfs }));
  if (!owned.ok) return owned;
  await listBridges(desired, found, withRecordDeadline);
  const { interfaces, pfNumbers } = found;
  const hasSteps = next.steps.length > 0;
  const problems = await keepUdevRules({ desired, wanted, found: interfaces, pfNumbers, hasSteps });
  if (hasSteps) await guard?.open?.(next.steps, { found, desired });
  // The steps of a PF do not depend on its record.
  return ok({ isOutdated: owned.value && !hasSteps, problems });
}

/** Nothing of Switchyard reads the list. If it cannot be written, the next pass tries again. */
async function listBridges(
  { bridges: wanted }: SriovNetworkNodeStateSpec,
  { bridges: existing, openVSwitch }: Observation,
  withRecordDeadline: WithDeadline,
): Promise<void> {
  if (openVSwitch === undefined || existing.ovs === undefined) return;
  const lists = { existing: existing.ovs, wanted: wanted?.ovs ?? [] };
  await withRecordDeadline((host) => listManagedBridges(host, lists)).catch(ignoreHostError);
}

function ignoreHostError(error: unknown): void {
  if (!(error instanceof HostError)) throw error;
}

/** Reports of which PFs the plan removes the VFs or their drivers. A reboot removes all VFs. */
function vfChangesOf({ steps }: Plan): (pciAddress: string) => boolean {
  const isRebooting = steps.some(({ kind }) => kind === "reboot");
  const changed = new Set(
    steps.map((step) => (step.kind === "set-num-vfs" || step.kind === "set-eswitch-mode" ? step.pciAddress : "")),
  );
  return (pciAddress) => isRebooting || changed.has(pciAddress);
}

/** The node is not configured in this boot before the steps have ended. */
function whileRunning({ bootId: _bootId, records: _records, ...found }: Observation): Found {
  return found;
}

async function apply(
  { steps }: Plan,
  found: Observation,
  deps: ConfigureDeps & { readonly signal: AbortSignal },
): Promise<readonly Step[]> {
  const { timing, signal, report } = deps;
  const startedMs = timing.nowMs();
  const { done, failures } = await applySteps(steps, {
    ...deps,
    found: found.interfaces,
    isFree: deps.uncleanVfs?.isFree,
    // The API server may be away. The reboot does not wait for it for long: a request has its own time limit.
    beforeReboot: (causes) => report({ kind: "rebooting", causes }, whileRunning(found)).catch(() => undefined),
  });
  await settleGuard(deps, signal);
  // A record that cannot be written now lets the next pass assign the same addresses again.
  await deps.withRecordDeadline((host) => recordAssignedMacs(host, done).catch(ignoreHostError));
  deps.onApplied({ durationMs: timing.nowMs() - startedMs, isDone: done.length === steps.length });
  // The node shuts down and may have no network any more, so nothing more is reported.
  if (failures.length === 0 && steps.some(({ kind }) => kind === "reboot")) signal.throwIfAborted();
  return done;
}
