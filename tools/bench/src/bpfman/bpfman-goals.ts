// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of the benchmark of bpfman. Pure.
 * Usage: `missedGoals(bpfmanGoals(report))`
 */
import { atMost, type Goal } from "../harness/goal.ts";
import { total, withoutLeases } from "../harness/request-count.ts";
import { bpfmanStepTitles, type BpfmanReport, type BpfmanStepResult } from "./bpfman-report.ts";

const timesPlain = 1.25;
const moreMb = 20;

/** The goals for time apply to at least 1,000 nodes: with fewer, code that is not yet compiled dominates. */
export function bpfmanGoals({
  steps,
  options: { nodes },
  builtinPeakMb,
}: Pick<BpfmanReport, "steps" | "builtinPeakMb"> & { readonly options: { readonly nodes: number } }): readonly Goal[] {
  const step = (id: BpfmanStepResult["id"]) => steps.find((one) => one.id === id);
  const restart = step("restart");
  const peaks = steps.map(({ peakMb }) => peakMb);
  const ratioOf = (id: BpfmanStepResult["id"]) => {
    const { seconds = Number.NaN, plainSeconds = Number.NaN } = step(id) ?? {};
    return atMost(`${bpfmanStepTitles[id]} / plain client`, seconds / plainSeconds, timesPlain, "x");
  };
  return [
    ...(nodes < 1000 ? [] : [ratioOf("load"), ratioOf("remove")]),
    atMost(`${bpfmanStepTitles.restart}, writes`, restart && total(withoutLeases(restart.requests.writes)), 0, ""),
    atMost("peak RSS more than with loader builtin", Math.max(...peaks) - builtinPeakMb, moreMb, "MB"),
  ];
}
