// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of the fleet benchmark. They compare the operator with upstream's Go operator and with the plain client.
 * Pure.
 * Usage: `missedGoals(fleetGoals(results, { nodes: 1000 }))`
 */
import { atMost, type Goal } from "../harness/goal.ts";
import { median } from "../harness/median.ts";
import { total, withoutLeases } from "../harness/request-count.ts";
import type { DrainWave } from "./drain-log.ts";
import { stepTitles, titleOf, type StepId, type StepResult } from "./step-result.ts";

/**
 * CPU seconds of upstream's Go operator, measured at 1,000 nodes. Its cost and the goal grow with the number of nodes.
 */
const upstreamCpuSeconds: Partial<Record<StepId, number>> = {
  start: 13,
  "first-policy": 12.1,
  "change-num-vfs": 18.6,
  "more-policies": 16.8,
  "delete-policies": 20.3,
};

const timesPlain = 1.25;

/**
 * The operator's debounce for one change and for a burst. A starting operator sees all nodes at once, which is a burst.
 */
const debounceSeconds = { single: 0.1, burst: 0.5 };
const bursts: readonly StepId[] = ["start", "more-policies", "delete-policies"];

const quietCpuSeconds = 0.05;
const peakMbAt1000 = 130;
const peakMbAt5000 = 400;

/**
 * The goals for time and CPU apply to fleets of at least 1,000 nodes: in smaller fleets the debounce and code that is not
 * yet compiled dominate.
 */
export function fleetGoals(results: readonly StepResult[], { nodes }: { readonly nodes: number }): readonly Goal[] {
  const steps = nodes < 1000 ? [] : [...Map.groupBy(results, ({ id }) => id)];
  return [
    ...steps.flatMap(([id, rounds]) => [...timeGoals(id, rounds), ...cpuGoals(id, rounds, nodes)]),
    ...results.flatMap(quietGoals),
    ...memoryGoals(results, nodes),
  ];
}

/**
 * The goals for drains: not more at once than the pool allows, no node twice, and a free slot is taken within a second.
 */
export function waveGoals({ nodes, limit, peak, starts, longestGapSeconds }: DrainWave): readonly Goal[] {
  return [
    atMost("drains at once", peak, limit, ""),
    atMost("drains of all nodes", starts, nodes, ""),
    atMost("free slot to the next drain", longestGapSeconds, 1, "s"),
  ];
}

/**
 * In each round the operator and the plain client run one after the other, on the same machine. The median of the rounds'
 * ratios is more reliable than a duration if the speed of the machine varies.
 */
function timeGoals(id: StepId, rounds: readonly StepResult[]): readonly Goal[] {
  if (rounds.every(({ plainSeconds }) => plainSeconds === undefined)) return [];
  const debounce = bursts.includes(id) ? debounceSeconds.burst : debounceSeconds.single;
  const ratios = rounds.map(
    ({ allSeconds = Number.NaN, plainSeconds = Number.NaN }) => (allSeconds - debounce) / plainSeconds,
  );
  return [atMost(`${stepTitles[id]}, all nodes after the debounce / plain client`, median(ratios), timesPlain, "x")];
}

function cpuGoals(id: StepId, rounds: readonly StepResult[], nodes: number): readonly Goal[] {
  const upstream = upstreamCpuSeconds[id];
  if (upstream === undefined) return [];
  const ours = median(rounds.map(({ cpuSeconds }) => cpuSeconds));
  return [atMost(`${stepTitles[id]}, CPU`, ours, (upstream / 4) * (nodes / 1000), "s")];
}

/** The goals for changes without effect: no writes, and almost no CPU time for a single event. */
function quietGoals(result: StepResult): readonly Goal[] {
  const { id, cpuSeconds, requests } = result;
  const title = titleOf(result);
  return [
    ...(id === "label" ? [atMost(`${title}, CPU`, cpuSeconds, quietCpuSeconds, "s")] : []),
    ...(id === "label" || id === "restart" || id === "report"
      ? [atMost(`${title}, writes`, total(withoutLeases(requests.writes)), 0, "")]
      : []),
  ];
}

function memoryGoals(results: readonly StepResult[], nodes: number): readonly Goal[] {
  const peakMb = Math.max(...results.map((result) => result.peakMb));
  if (nodes <= 1000) return [atMost("peak RSS", peakMb, peakMbAt1000, "MB")];
  return nodes <= 5000 ? [atMost("peak RSS", peakMb, peakMbAt5000, "MB")] : [];
}
