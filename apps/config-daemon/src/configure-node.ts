// SPDX-License-Identifier: Apache-2.0
/**
 * One pass of the node's life: observe, plan, ask for a drain if the plan disturbs, record, act, observe, report.
 * Level-based: it depends on what is, never on what happened; killed anywhere, the next pass goes on from there.
 * Usage: `const requeue = await configureNode(state, deps, signal);`
 */
import type { DrainRequest, SriovNetworkNodeState, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { describeStep, ownedInStatus, plan, type Plan, type Step } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import { applySteps, type StepFailure } from "./apply-steps.ts";
import { isDrainedFor, nextRequest, requestOf, type DrainNeed } from "./drain-request.ts";
import { observe, type Observation } from "./observe.ts";
import { ownPfs } from "./own-pfs.ts";
import type { Found, Phase } from "./report.ts";
import type { StepTiming } from "./steps/step-context.ts";
import type { LoadVhostModules } from "./vhost-modules.ts";

export interface ConfigureDeps {
  readonly host: Host;
  readonly timing: StepTiming;
  readonly maxPfs: number;
  readonly loadVhostModules: LoadVhostModules;
  /** SriovOperatorConfig.spec.disableDrain as it is now. */
  readonly isDrainDisabled: () => boolean;
  /** Writes the request; rejects with KubeError. */
  readonly requestDrain: (request: DrainRequest) => Promise<void>;
  /** Writes the status where it differs. `found` has the boot only where the pass ends with it. */
  readonly report: (phase: Phase, found: Found | undefined) => Promise<void>;
  /** Told of each plan, and of what it was made for. */
  readonly onPlan: (next: Plan, found: Observation) => void;
  /** Told of each step that ends. */
  readonly onStep: (step: Step, failure: StepFailure | undefined) => void;
  /** Told when the steps of a plan came to their end; `isDone` where all of them are done. */
  readonly onApplied: (apply: { readonly durationMs: number; readonly isDone: boolean }) => void;
}

/** How a pass ended: what is left is somebody else's turn, or is to be tried again. */
export type PassResult = "settled" | "waiting" | "retry";

/** A plan may need a second look: VFs that came without a driver show only once they are there. */
const maxRounds = 4;

/** Rejects with KubeError when the API server cannot be reached; what the host refuses is reported, not thrown. */
export async function configureNode(
  state: SriovNetworkNodeState,
  deps: ConfigureDeps,
  signal: AbortSignal,
): Promise<PassResult> {
  const desired = state.spec ?? {};
  const missing = await deps.loadVhostModules(desired);
  let done: readonly Step[] = [];
  let hasTakenBack = false;

  for (let round = 1; ; round++) {
    const found = await tryToObserve(deps);
    if (found === undefined) return "retry";
    const { interfaces, system } = found;
    const observed = { ...state.status, interfaces, system };
    const withoutModules = plan(desired, observed, ownedInStatus(observed));
    const next = { ...withoutModules, problems: [...withoutModules.problems, ...missing] };
    deps.onPlan(next, found);
    if (signal.aborted && round > 1) {
      // Told to end in the middle. The next daemon may be long in coming: until then the status is of now, not of before.
      await deps.report(phaseOf(next), found);
      signal.throwIfAborted();
    }
    const idle = next.steps.filter((step) => done.some((earlier) => isDeepStrictEqual(earlier, step)));
    if (idle.length > 0 || round > maxRounds) {
      const failures = (idle.length > 0 ? idle : next.steps).map(withoutEffect);
      await deps.report({ kind: "failed", failures, problems: next.problems }, found);
      return "retry";
    }
    const needed = drainNeeded(next);
    const isDrained = needed !== undefined && !hasTakenBack && isDrainedFor(needed, state);
    if (needed !== undefined && !isDrained && !deps.isDrainDisabled()) {
      await deps.report({ kind: "waiting-for-drain", reasons: next.reasons }, found);
      if (!hasTakenBack) await deps.requestDrain(nextRequest(needed, state)); // else: its echo starts another pass
      return "waiting";
    }
    // Who asks for a drain that he does not need, or no longer, keeps others waiting: the policy changed, drains were
    // switched off, or what is left to do disturbs nobody (M-52). Not between the rounds of what did need it.
    if (!isDrained && !hasTakenBack && requestOf(state) !== "Idle" && (round === 1 || next.steps.length === 0)) {
      await deps.requestDrain("Idle");
      hasTakenBack = true;
    }

    const owning = await tryToOwn(desired, next, found, deps);
    if (owning === "failed") return "retry";
    if (next.steps.length === 0) {
      if (owning === "changed") continue; // The status shows what is ours.
      await deps.report(phaseOf(next), found);
      return "settled";
    }

    const outcome = await act(next, { interfaces, system }, deps, signal);
    if (outcome === undefined) return "retry";
    done = outcome;
  }
}

function phaseOf({ steps, problems }: Plan): Phase {
  return steps.length === 0 ? { kind: "settled", problems } : { kind: "configuring", stepCount: steps.length };
}

function drainNeeded({ impact }: Plan): DrainNeed | undefined {
  if (impact === "none") return undefined;
  return impact === "reboot" ? "Reboot_Required" : "Drain_Required";
}

/** undefined where the host cannot be read at all, which is reported. */
async function tryToObserve(deps: ConfigureDeps): Promise<Observation | undefined> {
  try {
    return await observe(deps.host);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    await deps.report({ kind: "discovery-failed", message: thrown.message }, undefined);
    return undefined;
  }
}

/** Records the PFs that the plan acts on or finds in order. One that it refuses stays nobody's. */
async function tryToOwn(
  desired: SriovNetworkNodeStateSpec,
  next: Plan,
  found: Observation,
  deps: ConfigureDeps,
): Promise<"changed" | "unchanged" | "failed"> {
  const touched = new Set(next.steps.map((step) => ("pciAddress" in step ? step.pciAddress : undefined)));
  const refused = new Set(next.problems.map((problem) => problem.pciAddress));
  const wanted = (desired.interfaces ?? []).filter(
    ({ pciAddress }) => touched.has(pciAddress) || !refused.has(pciAddress),
  );
  try {
    return (await ownPfs(deps.host, wanted, found.interfaces)) ? "changed" : "unchanged";
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    await deps.report({ kind: "failed", failures: [thrown], problems: next.problems }, found);
    return "failed";
  }
}

/** Runs the steps; undefined where some failed, which is reported at once and again with what the host has then. */
async function act(
  next: Plan,
  before: Found,
  deps: ConfigureDeps,
  signal: AbortSignal,
): Promise<readonly Step[] | undefined> {
  const failures: StepFailure[] = [];
  // The API server may be slow or away, and the kernel need not wait for it. What cannot be told now, the next report tells.
  const interim: Promise<unknown>[] = [];
  const tell = (phase: Phase): void => {
    interim.push(deps.report(phase, before).catch(() => undefined));
  };

  tell({ kind: "configuring", stepCount: next.steps.length });
  const startedMs = deps.timing.nowMs();
  const outcome = await applySteps(next.steps, {
    ...deps,
    signal,
    onStep(step, failure) {
      deps.onStep(step, failure);
      if (failure === undefined) return;
      failures.push(failure);
      tell({ kind: "failed", failures: [...failures], problems: next.problems });
    },
  });
  deps.onApplied({
    durationMs: deps.timing.nowMs() - startedMs,
    isDone: outcome.done.length === next.steps.length,
  });
  await Promise.all(interim);
  if (failures.length === 0) return outcome.done;
  const after = await tryToObserve(deps);
  if (after !== undefined) await deps.report({ kind: "failed", failures, problems: next.problems }, after);
  return undefined;
}

function withoutEffect(step: Step): StepFailure {
  return { step, message: `${describeStep(step)}: done without an error, but the host does not show it` };
}
