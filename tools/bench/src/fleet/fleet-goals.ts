// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of performance.md ("What the Go operator costs") for the operator. Pure.
 * Usage: `missedGoals(fleetGoals(results, { nodes: 1000 }))`
 */
import { atMost, type Goal } from "../measure/goal.ts";
import { total, withoutLeases } from "../measure/request-count.ts";
import { stepTitles, titleOf, type StepId, type StepResult } from "./step-result.ts";

/** Seconds of CPU of the Go operator at 1,000 nodes; its cost, and the goal, grow with the nodes. */
const upstreamCpuSeconds: Partial<Record<StepId, number>> = {
  start: 13,
  "first-policy": 12.1,
  "change-num-vfs": 18.6,
  "more-policies": 16.8,
  "delete-policies": 20.3,
};

const timesPlain = 1.25;

/** Debounce: of one change, and of many in a row. */
const debounceSeconds = { single: 0.1, burst: 0.5 };
const bursts: readonly StepId[] = ["more-policies", "delete-policies"];

const quietCpuSeconds = 0.05;
const peakMbAt1000 = 130;
const peakMbAt5000 = 400;

export function fleetGoals(results: readonly StepResult[], { nodes }: { readonly nodes: number }): readonly Goal[] {
  const ids = new Set(results.map(({ id }) => id));
  return [
    ...[...ids].flatMap((id) => timeGoals(results.filter((result) => result.id === id))),
    ...results.flatMap((result) => costGoals(result, nodes)),
    ...memoryGoals(results, nodes),
  ];
}

/** Of all rounds of a step, the best time of each side: what else the machine does can only add to one. */
function timeGoals(rounds: readonly StepResult[]): readonly Goal[] {
  const [first] = rounds;
  const plainSeconds = Math.min(...rounds.map((result) => result.plainSeconds ?? Infinity));
  if (first === undefined || plainSeconds === Infinity) return [];
  const best = rounds.reduce((a, b) => ((a.allSeconds ?? Infinity) <= (b.allSeconds ?? Infinity) ? a : b));
  return [
    atMost(`${stepTitles[first.id]}, all nodes`, best.allSeconds, plainSeconds * timesPlain + allowanceOf(best), "s"),
  ];
}

function costGoals(result: StepResult, nodes: number): readonly Goal[] {
  const { id, cpuSeconds, requests } = result;
  const title = titleOf(result);
  const upstream = upstreamCpuSeconds[id];
  const writes = total(withoutLeases(requests.writes));
  return [
    ...(upstream === undefined ? [] : [atMost(`${title}, CPU`, cpuSeconds, (upstream / 4) * (nodes / 1000), "s")]),
    ...(id === "label" ? [atMost(`${title}, CPU`, cpuSeconds, quietCpuSeconds, "s")] : []),
    ...(id === "label" || id === "restart" || id === "report" ? [atMost(`${title}, writes`, writes, 0, "")] : []),
  ];
}

/** What may pass before the first write: a debounce, or the start of a process. */
function allowanceOf({ id, firstSeconds = 0 }: StepResult): number {
  if (id === "start") return firstSeconds;
  return bursts.includes(id) ? debounceSeconds.burst : debounceSeconds.single;
}

function memoryGoals(results: readonly StepResult[], nodes: number): readonly Goal[] {
  const peakMb = Math.max(...results.map((result) => result.peakMb));
  if (nodes <= 1000) return [atMost("peak RSS", peakMb, peakMbAt1000, "MB")];
  return nodes <= 5000 ? [atMost("peak RSS", peakMb, peakMbAt5000, "MB")] : [];
}
