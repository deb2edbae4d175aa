// SPDX-License-Identifier: Apache-2.0
/**
 * Plays a life in a world: undisturbed, to see how it is; or with things going wrong in its steps, to see that each step
 * ends the same, by the same way.
 * Usage: `const reference = await playUndisturbed(world, life); await playDisturbed({ world, life, reference, points });`
 */
import { describeWrite, type WriteRecord } from "./injector.ts";
import type { Life, Step } from "./life.ts";
import type { History } from "./observer.ts";
import { differences, type Picture } from "./picture.ts";
import { describePoint, type Point } from "./points.ts";
import type { World } from "./world.ts";

/** What an undisturbed life showed. */
export interface Reference {
  /** By the steps' names. */
  readonly steps: ReadonlyMap<string, Shown>;
  /** Watches that the operator begins at its start. */
  readonly watches: readonly string[];
}

export interface Shown {
  readonly picture: Picture;
  readonly history: History;
  /** The operator's, in their order. */
  readonly writes: readonly WriteRecord[];
  /** Resources of which the operator was told a change. */
  readonly told: readonly string[];
}

/** A step that did not end as it should. */
export class FaultFinding extends Error {
  override readonly name = "FaultFinding";

  constructor(step: string, points: readonly Point[], what: string, writes: readonly WriteRecord[]) {
    const causes = points.length === 0 ? [`undisturbed, in "${step}"`] : points.map(describePoint);
    const listed = writes.map((write, at) => `  ${at + 1}. ${describeWrite(write)}`);
    const shown = listed.length <= 60 ? listed : [...listed.slice(0, 50), "  …", ...listed.slice(-5)];
    super([causes.join("; "), what, `the operator's writes in "${step}":`, ...shown].join("\n"));
  }
}

/** The operator puts off no work for longer while all is well. */
const restMs = 1_300;

/** The operator needs less to come to act on what it hears. */
const calmMs = 400;

/** Events are held no longer, whatever the operator makes of it. */
const holdMs = 3_000;

/** Far more than any step takes. */
const undisturbedMs = 60_000;
const disturbedMs = 30_000;

export async function playUndisturbed(world: World, life: Life): Promise<Reference> {
  const { injector, observer, actors } = world;
  const steps = new Map<string, Shown>();
  const isAtRest = (sinceMs: number) => isQuiet(world, restMs, sinceMs);
  const startedAtMs = performance.now();
  const hasStarted = () => injector.watchingOf(0).size > 0 && isAtRest(startedAtMs);
  await world.until("the operator has started", hasStarted, undisturbedMs);
  const watches = [...injector.watchingOf(0)];
  observer.takeHistory();
  for (const step of life.steps) {
    const { name, act, isDone } = step;
    injector.begin([]);
    actors.nodes.takeVfChanges();
    await act(actors);
    const actedAtMs = performance.now();
    const isOver = () => isAtRest(actedAtMs) && isDone(observer.objects());
    await world.until(`"${name}" done`, isOver, undisturbedMs);
    const lost = lostVfs(step, world);
    if (lost !== "") throw new FaultFinding(name, [], lost, injector.writes);
    const [picture, history] = [observer.picture(), observer.takeHistory()];
    steps.set(name, { picture, history, writes: injector.writes, told: [...injector.told].sort() });
  }
  return { steps, watches };
}

export interface DisturbedPlay {
  readonly world: World;
  readonly life: Life;
  readonly reference: Reference;
  readonly points: readonly Point[];
  /** How long each step may take; half a minute unless given. */
  readonly withinMs?: number;
}

/**
 * Resolves with the points that came to nothing, as when there were fewer writes this time. Rejects with FaultFinding;
 * the world is of no more use then.
 */
export async function playDisturbed(play: DisturbedPlay): Promise<readonly Point[]> {
  const { world, life, reference, points } = play;
  const missed: Point[] = [];
  world.observer.takeHistory();
  for (const step of life.steps) {
    const shown = reference.steps.get(step.name);
    if (shown === undefined) throw new RangeError(`the reference has no step "${step.name}"`);
    const ofStep = points.filter(({ step: name }) => name === step.name);
    const struck = await playStep({ withinMs: disturbedMs, ...play, step, points: ofStep, expected: shown });
    missed.push(...ofStep.filter((point) => !struck.has(point)));
  }
  return missed;
}

interface StepPlay extends Required<Omit<DisturbedPlay, "life">> {
  readonly step: Step;
  readonly expected: Shown;
}

/** Resolves with the points that came to something. */
async function playStep(play: StepPlay): Promise<ReadonlySet<Point>> {
  const { world, step, points, expected, reference, withinMs } = play;
  const { injector, observer, actors } = world;
  let sinceMs = performance.now();
  const isCalm = () => isQuiet(world, calmMs, sinceMs);
  const isAtRest = () => isQuiet(world, restMs, sinceMs);
  const isUp = () => world.isUp(reference.watches);

  const fail = (what: string): never => {
    throw new FaultFinding(step.name, points, what, injector.writes);
  };
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    try {
      await world.until(what, holds, withinMs);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const waits = [
        ...(isUp() ? [] : ["a replica does not watch all that it watched at its start"]),
        ...(injector.areReadsWhole ? [] : ["a list or watch that was broken was not repeated"]),
        ...(isCalm() ? [] : ["the operator or the cluster is still busy"]),
      ];
      fail([why, ...waits, differences(expected.picture, observer.picture())].join("\n"));
    }
  };
  const converge = () =>
    until("the step ends as undisturbed", () => {
      const mayStrike = points.some((point) => "nth" in point && !injector.struck.has(point));
      const isOver = isUp() && injector.areReadsWhole && (mayStrike ? isAtRest() : isCalm());
      return isOver && differences(expected.picture, observer.picture()) === "";
    });

  world.mend();
  await until("all replicas are up", isUp);
  const before = observer.newestVersion;
  injector.begin(points);
  actors.nodes.takeVfChanges();
  await step.act(actors);
  sinceMs = performance.now();
  let struck: ReadonlySet<Point>;
  switch (points[0]?.fault) {
    case "held watch":
      // An operator that does not hear what others do may be at it for ever.
      await until("calm while events are held", () => isCalm() || performance.now() - sinceMs > holdMs);
      ({ struck } = injector);
      injector.tellAll();
      await converge();
      break;
    case "past at start":
      await converge();
      injector.tellThePast(before);
      await world.restartOperator();
      sinceMs = performance.now();
      await until("calm while the past is told", () => isUp() && (isCalm() || performance.now() - sinceMs > holdMs));
      injector.tellAll();
      await converge();
      struck = new Set(points);
      break;
    case "restart at rest":
      await converge();
      await until("rest", isAtRest);
      injector.begin([]);
      await world.restartOperator();
      await until("rest after the restart", () => isUp() && isAtRest());
      if (injector.writes.some(hasChanged)) fail("started again with nothing to do, the operator wrote");
      struck = new Set(points);
      break;
    case "late from here":
    case "kill, told the past":
      await until("the write from which all is late", () => injector.struck.size > 0 || isAtRest());
      sinceMs = performance.now();
      await until("calm while all is late", () => isUp() && (isCalm() || performance.now() - sinceMs > holdMs));
      ({ struck } = injector);
      injector.tellAll();
      await converge();
      break;
    case "renewal refused":
    case "renewal slow":
    case "renewal unanswered":
    case "renewal in conflict":
      await until("a renewal of the lease", () => injector.struck.size > 0);
      await converge();
      ({ struck } = injector);
      break;
    default:
      await converge();
      ({ struck } = injector);
  }
  if (writersOf(injector.writes).length > 2) fail("a replica wrote that did not lead any more");
  const detour = differences(expected.history, observer.takeHistory());
  const lost = lostVfs(step, world);
  if (lost !== "") fail(lost);
  if (detour !== "") fail(`the step ended as undisturbed, but by another way:\n${detour}`);
  return struck;
}

/** The replicas that got writes through, each as often as it followed another one. */
function writersOf(writes: readonly WriteRecord[]): readonly number[] {
  const writers = writes.filter(({ status }) => status !== undefined).map(({ replica }) => replica);
  return writers.filter((each, at) => each !== writers[at - 1]);
}

/** What was done to VFs that pods use; "" where nothing was, or may be. */
function lostVfs({ keepsVfs }: Step, { actors }: World): string {
  const changes = actors.nodes.takeVfChanges();
  return keepsVfs !== true || changes.length === 0 ? "" : `VFs in use were changed:\n${changes.join("\n")}`;
}

/** An eviction that a budget forbids is tried for as long as it takes. */
function hasChanged({ status = 0 }: WriteRecord): boolean {
  return status >= 200 && status < 300;
}

/** Whether neither the operator nor the cluster did anything for so long, and since `sinceMs`. */
function isQuiet({ injector, observer }: World, forMs: number, sinceMs: number): boolean {
  return performance.now() - Math.max(injector.heardAtMs, observer.changedAtMs, sinceMs) > forMs;
}
