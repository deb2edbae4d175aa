// SPDX-License-Identifier: Apache-2.0
/**
 * The report of the AF_XDP benchmark. Pure.
 * Usage: `process.stdout.write(renderAfxdpReport(report))`
 */
import type { BenchReport } from "../harness/bench.ts";
import { complaintLines, describeRun, goalLines } from "../harness/report-lines.ts";
import { listCounts, withoutLeases } from "../harness/request-count.ts";
import { renderTable, showMb, showRatio, showSeconds } from "../harness/table.ts";
import type { AfxdpOptions } from "./afxdp-options.ts";
import { titleOf, type AfxdpStepResult } from "./afxdp-step-result.ts";

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
