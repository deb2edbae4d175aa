// SPDX-License-Identifier: Apache-2.0
/** The report of the AF_XDP benchmark. Pure. */
import type { BenchReport } from "../harness/bench.ts";
import { atMost, median, type Goal } from "../harness/goal.ts";
import {
  complaintLines,
  describeRun,
  goalLines,
  renderTable,
  showMb,
  showRatio,
  showSeconds,
} from "../harness/report-lines.ts";
import { listCounts, total, withoutLeases } from "../harness/request-count.ts";
import type { AfxdpOptions } from "./afxdp-options.ts";
import { afxdpStepTitles, titleOf, type AfxdpStepId, type AfxdpStepResult } from "./afxdp-step-result.ts";

const timesPlain = 1.25;

const moreMb = 20;

/** What the operator waits for further changes at most, as in the fleet benchmark. */
const debounceSeconds: Partial<Record<AfxdpStepId, number>> = { config: 0.5, policy: 0.1, change: 0.1, delete: 0.1 };

/** Steps in which nothing may be written. */
const quietSteps: readonly AfxdpStepId[] = ["report", "restart"];

/** The report of the benchmark. */
export interface AfxdpReport extends BenchReport {
  readonly bench: "afxdp";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<AfxdpOptions, "nodes" | "connections" | "rounds">;
  readonly steps: readonly AfxdpStepResult[];
  /** Warnings and errors in the operator's log. */
  readonly complaints: readonly string[];
}

export function renderAfxdpReport(report: AfxdpReport): string {
  const { options, steps, goals, complaints, date } = report;
  return [
    `operator, ${options.nodes} nodes with AF_XDP devices; ${date}`,
    describeRun(report),
    "All nodes: seconds from the first write of the step until the last node had the new spec",
    `Plain client: writes the same node states over ${options.connections} connections`,
    "",
    renderTable(head, steps.map(rowOf)),
    "",
    ...goalLines(goals),
    ...complaintLines("operator", complaints),
    "",
  ].join("\n");
}

const head = [
  ...["step", "all nodes", "plain client", "ratio", "others busy", "CPU", "RSS", "peak"],
  "writes (without leases)",
];

function rowOf(step: AfxdpStepResult): readonly string[] {
  const { seconds, plainSeconds, cpuSeconds, rssMb, peakMb, requests } = step;
  const loads = [step.load, step.plainLoad].filter((load) => load !== undefined);
  return [
    titleOf(step),
    showSeconds(seconds),
    showSeconds(plainSeconds),
    showRatio(seconds === undefined || plainSeconds === undefined ? undefined : seconds / plainSeconds),
    loads.map(({ othersBusy }) => othersBusy.toFixed(1)).join(" / "),
    showSeconds(cpuSeconds),
    showMb(rssMb),
    showMb(peakMb),
    listCounts(withoutLeases(requests.writes)),
  ];
}

/**
 * The goals of the AF_XDP benchmark. Pure.
 * The goals for time apply to at least 1,000 nodes: with fewer, code that is not yet compiled dominates.
 */
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
