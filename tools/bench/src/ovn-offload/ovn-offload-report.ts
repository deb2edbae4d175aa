// SPDX-License-Identifier: Apache-2.0
/**
 * The report of the ovn-offload benchmark. Pure.
 * Usage: `process.stdout.write(renderOvnOffloadReport(report))`
 */
import type { BenchReport } from "../harness/bench.ts";
import { complaintLines, describeRun, goalLines } from "../harness/report-lines.ts";
import { listCounts, total, withoutLeases } from "../harness/request-count.ts";
import { renderTable, showMb, showRatio, showSeconds } from "../harness/table.ts";
import { titleOf, type OffloadStepResult } from "./offload-step-result.ts";
import type { OvnOffloadOptions } from "./ovn-offload-options.ts";

/** The report of the benchmark. */
export interface OvnOffloadReport extends BenchReport {
  readonly bench: "ovn-offload";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<OvnOffloadOptions, "nodes" | "pools" | "connections" | "rounds">;
  readonly steps: readonly OffloadStepResult[];
  /** Seconds from SIGTERM to the end of each process. */
  readonly stopSeconds: readonly number[];
  /** Warnings and errors in the log of ovn-offload. */
  readonly complaints: readonly string[];
}

export function renderOvnOffloadReport(report: OvnOffloadReport): string {
  const { options, steps, goals, complaints, date } = report;
  return [
    `ovn-offload, ${options.nodes} hosts in ${options.pools} pools; ${date}`,
    describeRun(report),
    "All written: seconds from the last write that causes the step to the last write of ovn-offload that is not its status",
    "Status: seconds to the last write of the status, which has a pace of its own",
    `Plain client: repeats the writes of that time, with bodies of the same size, over ${options.connections} connections`,
    "Others busy: processors that other programs on this machine used meanwhile; times can be compared only if it is 0",
    "",
    renderTable(head, steps.map(rowOf)),
    "",
    ...goalLines(goals),
    ...complaintLines("service", complaints),
    "",
  ].join("\n");
}

const head = [
  ...["step", "all written", "plain client", "ratio", "status", "others busy", "CPU", "RSS", "peak", "size"],
  "writes by ovn-offload (without leases)",
];

/** The cells of the step's row. */
export function rowOf(step: OffloadStepResult): readonly string[] {
  const { seconds, statusSeconds, plainSeconds, cpuSeconds, rssMb, peakMb, bytes, requests } = step;
  const loads = [step.load, step.plainLoad].filter((load) => load !== undefined);
  const failed = total(requests.failed) === 0 ? "" : `; refused: ${listCounts(requests.failed)}`;
  return [
    titleOf(step),
    showSeconds(seconds),
    showSeconds(plainSeconds),
    showRatio(seconds === undefined || plainSeconds === undefined ? undefined : seconds / plainSeconds),
    showSeconds(statusSeconds),
    loads.map(({ othersBusy }) => othersBusy.toFixed(1)).join(" / "),
    showSeconds(cpuSeconds),
    showMb(rssMb),
    showMb(peakMb),
    `${Math.ceil(bytes / 1000)} kB`,
    `${listCounts(withoutLeases(requests.writes))}${failed}`,
  ];
}
