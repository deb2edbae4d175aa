// SPDX-License-Identifier: Apache-2.0
/**
 * Plays a life over and over, until each point has been where something went wrong; in two worlds at once, since most of
 * a life is waiting.
 * Usage: `const { points, findings } = await runCampaign(life, { binaries, main, effort: "sample", tell });`
 */
import type { Life } from "./life.ts";
import { FaultFinding, playDisturbed, playUndisturbed, type DisturbedPlay, type Reference } from "./play.ts";
import { allPoints, countPoints, planLives, samplePoints, type Point, type StepFacts } from "./points.ts";
import { createWorld, type World, type WorldOptions } from "./world.ts";

export interface CampaignOptions extends Omit<WorldOptions, "flags"> {
  readonly effort: "sample" | "all";
  /** The lives to be played, each with its points; by `effort` unless given. */
  readonly plan?: (steps: readonly StepFacts[]) => readonly (readonly Point[])[];
  /** Told how far it is, every two seconds. */
  readonly tell: (line: string) => void;
}

export interface CampaignResult {
  readonly points: readonly Point[];
  /** Those at which nothing could go wrong: there were fewer writes than in the life that was looked at first. */
  readonly missed: readonly Point[];
  /** What went wrong; more than `maxFindings` are not looked for. */
  readonly findings: readonly string[];
}

const worldCount = 2;
const maxFindings = 4;
const tellEveryMs = 2_000;

/** Rejects where not even the undisturbed life works. */
export async function runCampaign(life: Life, options: CampaignOptions): Promise<CampaignResult> {
  const { effort, tell } = options;
  const startedMs = performance.now();
  const say = (text: string): void => {
    tell(`${life.name}: ${text}, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
  };
  let state = "the undisturbed life";
  const timer = setInterval(() => {
    say(state);
  }, tellEveryMs);
  try {
    const worlds = await Promise.all(Array.from({ length: worldCount }, () => createWorld({ ...options, ...life })));
    const [first] = worlds;
    const missed: Point[] = [];
    const findings: string[] = [];
    let lives = 0;
    await using _ = disposeOf(worlds);
    if (first === undefined) throw new RangeError("there is no world");
    const reference = await playUndisturbed(first, life);
    const lifePlan = options.plan?.(factsOf(reference)) ?? planLives(pointsOf(reference, effort));
    const points = lifePlan.flat();
    const plan = [[], ...lifePlan]; // Once with nothing going wrong: it must be the same again.
    const due = [...plan];
    state = `0 of ${plan.length} lives`;
    say(`${countPoints(points)}, in ${plan.length} lives of ${life.steps.length} steps`);

    async function play(start: World): Promise<void> {
      let world = start;
      for (let next = due.shift(); next !== undefined && findings.length < maxFindings; next = due.shift()) {
        const found = await attempt({ world, life, reference, points: next });
        lives += 1;
        state = `${lives} of ${plan.length} lives, ${findings.length} findings`;
        if (typeof found !== "string") {
          missed.push(...found);
          continue;
        }
        findings.push(found);
        say(`finding ${findings.length}: ${found.split("\n")[0] ?? ""}`);
        await world[Symbol.asyncDispose]();
        worlds.splice(worlds.indexOf(world), 1);
        world = await createWorld({ ...options, ...life });
        worlds.push(world);
      }
    }
    await Promise.all(worlds.map(play));
    say(`done: ${countPoints(points)}; ${missed.length} came to nothing; ${findings.length} findings`);
    return { points, missed, findings };
  } finally {
    clearInterval(timer);
  }
}

function pointsOf(reference: Reference, effort: CampaignOptions["effort"]): readonly Point[] {
  const facts = factsOf(reference);
  return effort === "all" ? allPoints(facts) : samplePoints(facts);
}

function factsOf({ steps }: Reference): readonly StepFacts[] {
  return [...steps].map(([step, { writes, told }]) => ({ step, writeCount: writes.length, told }));
}

/** What was found, as a text; else the points that came to nothing. */
async function attempt(play: DisturbedPlay): Promise<string | readonly Point[]> {
  try {
    const missed = await playDisturbed(play);
    const errors = await play.world.readErrors();
    return errors.length === 0 ? missed : `the operator met errors:\n${errors.join("\n")}`;
  } catch (error) {
    if (!(error instanceof FaultFinding)) throw error;
    return `${error.message}\nthe operator's log ends:\n${await play.world.readLog()}`;
  }
}

function disposeOf(worlds: readonly World[]): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(worlds.map((world) => world[Symbol.asyncDispose]()));
    },
  };
}
