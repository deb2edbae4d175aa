// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of performance.md ("Webhook"). Pure.
 * Usage: `missedGoals(webhookGoals(result))`
 */
import { atMost, type Goal } from "../harness/goal.ts";
import type { LoadResult } from "./measure-load.ts";
import type { ProfileResult } from "./profile-result.ts";

const p99Ms = { alone: 20, together: 60 };
const cpuSecondsPer100 = 1;
const peakMb = 130;

/**
 * Goals of time, CPU and memory are for fleets of at most 1,000 nodes. They were set for nodes that are alike: of those that
 * are not, figures are shown and not judged.
 */
export function webhookGoals(result: ProfileResult, { nodes }: { readonly nodes: number }): readonly Goal[] {
  const { profile, loads, verdicts, peakMb: peak, lists } = result;
  const titles = new Set(loads.map(titleOf));
  const sized = [
    ...[...titles].flatMap((title) => {
      const rounds = loads.filter((load) => titleOf(load) === title);
      return loadGoals(`${profile}, ${title}`, rounds);
    }),
    atMost(`${profile}, peak RSS`, peak, peakMb, "MB"),
  ];
  const wrong = loads.reduce((sum, load) => sum + load.wrong, verdicts.wrong);
  return [
    ...(nodes > 1000 || profile === "vf256-in-pods" ? [] : sized),
    atMost(`${profile}, wrong verdicts`, wrong, 0, ""),
    atMost(`${profile}, lists while reviewing`, lists, 0, ""),
  ];
}

/** Of all rounds, the best latency: what else the machine does can only add to it. The CPU time, of the worst. */
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
