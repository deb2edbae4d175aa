// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of the webhook benchmark. Pure.
 * Usage: `missedGoals(webhookGoals(result, { nodes: 1000 }))`
 */
import { atMost, type Goal } from "../harness/goal.ts";
import type { LoadResult } from "./measure-load.ts";
import type { ProfileResult } from "./profile-result.ts";

const p99Ms = { alone: 20, together: 60 };
const cpuSecondsPer100 = 1;
const peakMb = 130;

/**
 * The goals for time, CPU and memory apply to fleets of at most 1,000 nodes that are all alike. For other fleets the
 * report only shows the figures.
 */
export function webhookGoals(result: ProfileResult, { nodes }: { readonly nodes: number }): readonly Goal[] {
  const { profile, loads, comparison, peakMb: peak, lists } = result;
  const titles = new Set(loads.map(titleOf));
  const sized = [
    ...[...titles].flatMap((title) => {
      const rounds = loads.filter((load) => titleOf(load) === title);
      return loadGoals(`${profile}, ${title}`, rounds);
    }),
    atMost(`${profile}, peak RSS`, peak, peakMb, "MB"),
  ];
  const wrong = loads.reduce((sum, load) => sum + load.wrong, comparison.wrong);
  return [
    ...(nodes > 1000 || profile === "vf256-in-pods" ? [] : sized),
    atMost(`${profile}, wrong decisions`, wrong, 0, ""),
    atMost(`${profile}, lists while reviewing`, lists, 0, ""),
  ];
}

/** Compares the best latency of all rounds, because other work on the machine only adds to it, and the worst CPU time. */
function loadGoals(what: string, rounds: readonly LoadResult[]): readonly Goal[] {
  const limit = (rounds[0]?.atOnce ?? 1) === 1 ? p99Ms.alone : p99Ms.together;
  const best = Math.min(...rounds.map(({ p99 }) => p99));
  const cpu = Math.max(...rounds.map(({ cpuSeconds }) => cpuSeconds));
  return [atMost(`${what}, p99`, best, limit, "ms"), atMost(`${what}, CPU of 100`, cpu, cpuSecondsPer100, "s")];
}

/** "new policy, 8 at once" */
export function titleOf({ title, atOnce }: Pick<LoadResult, "title" | "atOnce">): string {
  return atOnce === 1 ? title : `${title}, ${atOnce} at once`;
}
