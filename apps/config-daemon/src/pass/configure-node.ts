// SPDX-License-Identifier: Apache-2.0
/**
 * One pass of the node's life: observe, plan, ask for a drain if the plan disturbs, record, act, observe, report.
 * Level-based: it depends on what is, never on what happened; killed anywhere, the next pass goes on from there.
 * Usage: `const requeue = await configureNode(state, deps, signal);`
 */
import type {
  DrainRequest,
  InterfaceStatus,
  SriovNetworkNodeState,
  SriovNetworkNodeStateSpec,
  SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { describeStep, ownedInStatus, plan, type Plan, type Step } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import { applySteps, type ApplyOptions, type StepFailure } from "./apply-steps.ts";
import { isDrainedFor, nextRequest, requestOf, type DrainNeed } from "./drain-request.ts";
import type { Look } from "../observe/observer.ts";
import type { Observation } from "../observe/observe.ts";
import { ownPfs } from "./own-pfs.ts";
import type { Within } from "../deadlines/with-deadline.ts";
import type { Phase } from "../report/phase.ts";
import type { Found } from "../report/status-of.ts";
import type { StepsInHand } from "./running-steps.ts";
import type { LoadVhostModules } from "./vhost-modules.ts";

export interface ConfigureDeps extends Pick<
  ApplyOptions,
  "timing" | "maxPfs" | "maxHanging" | "inHand" | "onStep" | "onReturn"
> {
  readonly host: Host;
  readonly look: Look;
  /** For records of PFs: a disk may hang, too. */
  readonly record: Within;
  readonly loadVhostModules: LoadVhostModules;
  /** SriovOperatorConfig.spec.disableDrain as it is now. */
  readonly isDrainDisabled: () => boolean;
  /** Writes the request; rejects with KubeError. */
  readonly requestDrain: (request: DrainRequest) => Promise<void>;
  /** Writes the status where it differs. `found` has the boot only where the pass ends with it. */
  readonly report: (phase: Phase, found: Found | undefined) => Promise<void>;
  /** Told of each plan, and of what it was made for. */
  readonly onPlan: (next: Plan, found: Observation) => void;
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
  given: ConfigureDeps,
  signal: AbortSignal,
): Promise<PassResult> {
  const { inHand } = given;
  const deps: ConfigureDeps = { ...given, report: (phase, found) => given.report(withHanging(phase, inHand), found) };
  const desired = state.spec ?? {};
  const missing = await deps.loadVhostModules(desired);
  let done: readonly Step[] = [];
  let hasTakenBack = false;

  for (let round = 1; ; round++) {
    const found = await tryToObserve(deps);
    if (found === undefined) return "retry";
    const { interfaces, system } = found;
    const observed = { ...state.status, interfaces, system };
    const planned = plan(desired, observed, ownedInStatus(observed));
    const whole = { ...planned, problems: [...planned.problems, ...missing] };
    deps.onPlan(whole, found);
    const next = inHand.hanging.length === 0 ? whole : planAround(inHand, whole, desired, observed);
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
    // switched off, or what is left to do disturbs nobody (M-52). Not between the rounds of what did need it, nor while a
    // step of it hangs: what it does to its PF is not known, so no pod gets a VF of this node meanwhile.
    const isOver = (round === 1 || next.steps.length === 0) && inHand.hanging.length === 0;
    if (!isDrained && !hasTakenBack && requestOf(state) !== "Idle" && isOver) {
      await deps.requestDrain("Idle");
      hasTakenBack = true;
    }

    const owning = await tryToOwn(withoutHanging(desired, inHand), next, found, deps);
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

function withHanging(phase: Phase, inHand: StepsInHand): Phase {
  return inHand.hanging.length === 0 ? phase : { ...phase, hanging: inHand.describe() };
}

/** The plan for all but what hanging steps work on. What cannot be done stays the same. */
function planAround(
  inHand: StepsInHand,
  { problems }: Plan,
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
): Plan {
  const rest = withoutHanging(observed, inHand);
  const next = plan(withoutHanging(desired, inHand), rest, ownedInStatus(rest));
  return { ...next, problems, steps: next.steps.filter((step) => !inHand.isHeldUp(step)) };
}

/** The spec or the status without the PFs that hanging steps work on. */
function withoutHanging<Of extends { readonly interfaces?: readonly { readonly pciAddress: string }[] }>(
  object: Of,
  { hanging }: StepsInHand,
): Of {
  const held = new Set(hanging.map(({ step }) => ("pciAddress" in step ? step.pciAddress : undefined)));
  if (held.size === 0) return object;
  return { ...object, interfaces: (object.interfaces ?? []).filter(({ pciAddress }) => !held.has(pciAddress)) };
}

/** undefined where the host cannot be read at all, which is reported. */
async function tryToObserve(deps: ConfigureDeps): Promise<Observation | undefined> {
  const held = deps.inHand.hanging.flatMap(({ step, pf }): readonly InterfaceStatus[] =>
    "pciAddress" in step ? [pf ?? { pciAddress: step.pciAddress }] : [],
  );
  const seen = await deps.look(held);
  if (seen.ok) return seen.value;
  await deps.report({ kind: "discovery-failed", message: seen.error }, undefined);
  return undefined;
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
  const { problems } = next;
  try {
    const owned = await deps.record((host) => ownPfs(host, wanted, found.interfaces));
    if (owned.ok) return owned.value ? "changed" : "unchanged";
    await deps.report({ kind: "failed", failures: [{ message: owned.error }], problems }, found);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    await deps.report({ kind: "failed", failures: [thrown], problems }, found);
  }
  return "failed";
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
    found: before.interfaces,
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
