// SPDX-License-Identifier: Apache-2.0
/**
 * Runs a scenario in a fault cluster, first without faults as the reference, then with faults in its steps. Checks that
 * each step ends in the same state with the same changes of the objects.
 */
import { describeWrite, type WriteRecord } from "../injector.ts";
import type { Scenario, Step } from "./scenario.ts";
import type { History } from "../observer.ts";
import { differences, type ClusterState } from "../cluster-state.ts";
import { describePoint, type Point } from "../points.ts";
import type { FaultCluster } from "../fault-cluster.ts";

/** The result of a run without faults. */
export interface Reference {
  /** The results of the steps by their names. */
  readonly steps: ReadonlyMap<string, Shown>;
  /** The watches that the operator opens when it starts. */
  readonly watches: readonly string[];
}

export interface Shown {
  readonly clusterState: ClusterState;
  readonly history: History;
  /** The operator's writes in their order. */
  readonly writes: readonly WriteRecord[];
  /** The resources for which the operator received watch events. */
  readonly notifiedResources: readonly string[];
}

/** A step that did not end in the expected state. */
export class FaultFinding extends Error {
  override readonly name = "FaultFinding";

  constructor(step: string, points: readonly Point[], what: string, writes: readonly WriteRecord[]) {
    const causes = points.length === 0 ? [`undisturbed, in "${step}"`] : points.map(describePoint);
    const listed = writes.map((write, at) => `  ${at + 1}. ${describeWrite(write)}`);
    const shown = listed.length <= 60 ? listed : [...listed.slice(0, 50), "  …", ...listed.slice(-5)];
    super([causes.join("; "), what, `the operator's writes in "${step}":`, ...shown].join("\n"));
  }
}

/** The longest time for which the operator delays work without an error. */
const restMs = 1_300;

/** The operator acts on a watch event in less than this time. */
const calmMs = 400;

/** The longest time for which watch events are delayed. */
const holdMs = 3_000;

/** Much longer than any step takes. */
const undisturbedMs = 60_000;
const disturbedMs = 30_000;

export async function runWithoutFaults(faultCluster: FaultCluster, scenario: Scenario): Promise<Reference> {
  const { injector, observer, users } = faultCluster;
  const steps = new Map<string, Shown>();
  const isAtRest = (sinceMs: number) => isQuiet(faultCluster, restMs, sinceMs);
  const startedAtMs = performance.now();
  const hasStarted = () => injector.watchingOf(0).size > 0 && isAtRest(startedAtMs);
  await faultCluster.until("the operator has started", hasStarted, undisturbedMs);
  const watches = [...injector.watchingOf(0)];
  observer.takeHistory();
  for (const step of scenario.steps) {
    const { name, act, isDone } = step;
    injector.begin([]);
    users.nodes.takeVfChanges();
    await act(users);
    const actedAtMs = performance.now();
    const isOver = () => isAtRest(actedAtMs) && isDone(observer.objects());
    await faultCluster.until(`"${name}" done`, isOver, undisturbedMs);
    const lost = lostVfs(step, faultCluster);
    if (lost !== "") throw new FaultFinding(name, [], lost, injector.writes);
    const [clusterState, history] = [observer.clusterState(), observer.takeHistory()];
    steps.set(name, {
      clusterState,
      history,
      writes: injector.writes,
      notifiedResources: [...injector.notifiedResources].sort(),
    });
  }
  return { steps, watches };
}

export interface FaultyRun {
  readonly faultCluster: FaultCluster;
  readonly scenario: Scenario;
  readonly reference: Reference;
  readonly points: readonly Point[];
  /** Time limit of each step (default 30 s). */
  readonly withinMs?: number;
}

/**
 * Returns the points at which no fault occurred, for example because this run had fewer writes. Rejects with
 * FaultFinding; then the fault cluster cannot be used any more.
 */
export async function runWithFaults(run: FaultyRun): Promise<readonly Point[]> {
  const { faultCluster, scenario, reference, points } = run;
  const missed: Point[] = [];
  faultCluster.observer.takeHistory();
  for (const step of scenario.steps) {
    const shown = reference.steps.get(step.name);
    if (shown === undefined) throw new RangeError(`the reference has no step "${step.name}"`);
    const ofStep = points.filter(({ step: name }) => name === step.name);
    const applied = await runStep({ withinMs: disturbedMs, ...run, step, points: ofStep, expected: shown });
    missed.push(...ofStep.filter((point) => !applied.has(point)));
  }
  return missed;
}

interface StepRun extends Required<Omit<FaultyRun, "scenario">> {
  readonly step: Step;
  readonly expected: Shown;
}

/** Returns the points at which a fault occurred. */
async function runStep(run: StepRun): Promise<ReadonlySet<Point>> {
  const { faultCluster, step, points, expected, reference, withinMs } = run;
  const { injector, observer, users } = faultCluster;
  let sinceMs = performance.now();
  const isCalm = () => isQuiet(faultCluster, calmMs, sinceMs);
  const isAtRest = () => isQuiet(faultCluster, restMs, sinceMs);
  const isUp = () => faultCluster.isUp(reference.watches);

  const fail = (what: string): never => {
    throw new FaultFinding(step.name, points, what, injector.writes);
  };
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    try {
      await faultCluster.until(what, holds, withinMs);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const waits = [
        ...(isUp() ? [] : ["a replica does not watch all that it watched at its start"]),
        ...(injector.areReadsWhole ? [] : ["a list or watch that was broken was not repeated"]),
        ...(isCalm() ? [] : ["the operator or the cluster is still busy"]),
      ];
      fail([why, ...waits, differences(expected.clusterState, observer.clusterState())].join("\n"));
    }
  };
  const converge = () =>
    until("the step ends as without faults", () => {
      const mayStrike = points.some((point) => "nth" in point && !injector.applied.has(point));
      const isOver = isUp() && injector.areReadsWhole && (mayStrike ? isAtRest() : isCalm());
      return isOver && differences(expected.clusterState, observer.clusterState()) === "";
    });

  faultCluster.mend();
  await until("all replicas are up", isUp);
  const before = observer.newestVersion;
  injector.begin(points);
  users.nodes.takeVfChanges();
  await step.act(users);
  sinceMs = performance.now();
  let applied: ReadonlySet<Point>;
  switch (points[0]?.fault) {
    case "held watch":
      // If the operator does not receive the changes of others, it may retry for ever.
      await until("the operator is idle while events are held", () => isCalm() || performance.now() - sinceMs > holdMs);
      ({ applied } = injector);
      injector.endStaleReads();
      await converge();
      break;
    case "past at start":
      await converge();
      injector.serveStaleReads(before);
      await faultCluster.restartOperator();
      sinceMs = performance.now();
      await until(
        "the operator is idle while its reads are stale",
        () => isUp() && (isCalm() || performance.now() - sinceMs > holdMs),
      );
      injector.endStaleReads();
      await converge();
      applied = new Set(points);
      break;
    case "restart at rest":
      await converge();
      await until("the cluster is idle", isAtRest);
      injector.begin([]);
      await faultCluster.restartOperator();
      await until("the operator is idle after the restart", () => isUp() && isAtRest());
      if (injector.writes.some(hasChanged)) fail("started again with nothing to do, the operator wrote");
      applied = new Set(points);
      break;
    case "late from here":
    case "kill, then stale reads":
      await until("the write after which events are late", () => injector.applied.size > 0 || isAtRest());
      sinceMs = performance.now();
      await until(
        "the operator is idle while events are late",
        () => isUp() && (isCalm() || performance.now() - sinceMs > holdMs),
      );
      ({ applied } = injector);
      injector.endStaleReads();
      await converge();
      break;
    case "renewal refused":
    case "renewal slow":
    case "renewal unanswered":
    case "renewal in conflict":
      await until("a renewal of the lease", () => injector.applied.size > 0);
      await converge();
      ({ applied } = injector);
      break;
    default:
      await converge();
      ({ applied } = injector);
  }
  if (writersOf(injector.writes).length > 2) fail("a replica wrote that did not lead any more");
  const detour = differences(expected.history, observer.takeHistory());
  const lost = lostVfs(step, faultCluster);
  if (lost !== "") fail(lost);
  if (detour !== "") fail(`the step ended as undisturbed, but by another way:\n${detour}`);
  return applied;
}

/** The replicas whose writes succeeded, in order, without direct repetitions. */
function writersOf(writes: readonly WriteRecord[]): readonly number[] {
  const writers = writes.filter(({ status }) => status !== undefined).map(({ replica }) => replica);
  return writers.filter((each, at) => each !== writers[at - 1]);
}

/** The changes of VFs that pods use, as a text; "" if there are none or if the step allows them. */
function lostVfs({ keepsVfs }: Step, { users }: FaultCluster): string {
  const changes = users.nodes.takeVfChanges();
  return keepsVfs !== true || changes.length === 0 ? "" : `VFs in use were changed:\n${changes.join("\n")}`;
}

/** The writes without evictions, which the operator retries while a PodDisruptionBudget forbids them. */
function hasChanged({ status = 0 }: WriteRecord): boolean {
  return status >= 200 && status < 300;
}

/** Whether neither the operator nor the cluster has done anything for a while, and since `sinceMs`. */
function isQuiet({ injector, observer }: FaultCluster, forMs: number, sinceMs: number): boolean {
  return performance.now() - Math.max(injector.lastRequestAtMs, observer.changedAtMs, sinceMs) > forMs;
}
