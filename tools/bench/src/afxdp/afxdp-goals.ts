// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of the AF_XDP benchmark. Pure.
 * Usage: `missedGoals(afxdpGoals(results, { nodes: 1000 }))`
 */
import { atMost, type Goal } from "../harness/goal.ts";
import { median } from "../harness/median.ts";
import { total, withoutLeases } from "../harness/request-count.ts";
import { afxdpStepTitles, titleOf, type AfxdpStepId, type AfxdpStepResult } from "./afxdp-step-result.ts";

const timesPlain = 1.25;
const moreMb = 20;

/** What the operator waits for further changes at most, as in the fleet benchmark. */
const debounceSeconds: Partial<Record<AfxdpStepId, number>> = { config: 0.5, policy: 0.1, change: 0.1, delete: 0.1 };

/** Steps in which nothing may be written. */
const quietSteps: readonly AfxdpStepId[] = ["report", "restart"];

/** The goals for time apply to at least 1,000 nodes: with fewer, code that is not yet compiled dominates. */
export function afxdpGoals(
  results: readonly AfxdpStepResult[],
  { nodes }: { readonly nodes: number },
): readonly Goal[] {
  const steps = nodes < 1000 ? [] : [...Map.groupBy(results, ({ id }) => id)];
  const [off, ...on] = results;
  const peaks = on.map(({ peakMb }) => peakMb);
  return [
    ...steps.flatMap(([id, rounds]) => timeGoals(id, rounds)),
    ...results
      .filter(({ id }) => quietSteps.includes(id))
      .map((result) => atMost(`${titleOf(result)}, writes`, total(withoutLeases(result.requests.writes)), 0, "")),
    atMost("peak RSS more than without AF_XDP", off && Math.max(...peaks) - off.peakMb, moreMb, "MB"),
  ];
}

/** The median of the rounds' ratios, because the speed of the machine varies. */
function timeGoals(id: AfxdpStepId, rounds: readonly AfxdpStepResult[]): readonly Goal[] {
  const debounce = debounceSeconds[id];
  if (debounce === undefined) return [];
  const ratios = rounds.map(
    ({ seconds = Number.NaN, plainSeconds = Number.NaN }) => (seconds - debounce) / plainSeconds,
  );
  return [
    atMost(`${afxdpStepTitles[id]}, all nodes after the debounce / plain client`, median(ratios), timesPlain, "x"),
  ];
}
