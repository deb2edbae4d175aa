// SPDX-License-Identifier: Apache-2.0
/**
 * The report of the daemon benchmark. Pure.
 * Usage: `process.stdout.write(renderDaemonReport(report))`
 */
import type { BenchReport } from "../harness/bench.ts";
import { describeRun, goalLines } from "../harness/report-lines.ts";
import { listCounts } from "../harness/request-count.ts";
import { renderTable, showMb, showRatio, showSeconds } from "../harness/table.ts";
import type { KernelTime, KernelTimes } from "./kernel-baseline.ts";
import type { ChangeResult, Cost, FlapResult, IdleResult, RefusalResult, StartResult } from "./daemon-results.ts";

/** The report of the benchmark. */
export interface DaemonReport extends BenchReport {
  readonly bench: "daemon";
  readonly host: "fake kernel" | "VM lab, igb" | "VM lab, igbsw and Open vSwitch" | "VM lab, igbsw and subfunctions";
  readonly versions: Readonly<Record<string, string>>;
  /** Best times of the kernel alone, by the title of the change; none for the fake kernel, which takes no time. */
  readonly kernelTimes: KernelTimes;
  readonly starts: readonly StartResult[];
  readonly changes: readonly ChangeResult[];
  readonly refusals: readonly RefusalResult[];
  readonly flaps: readonly FlapResult[];
  readonly idle: IdleResult;
  readonly peakMb: number;
  /** From SIGTERM to the end, of each process. */
  readonly stopSeconds: readonly number[];
}

export function renderDaemonReport(report: DaemonReport): string {
  const { host, date, kernelTimes, starts, changes, refusals, flaps, idle, goals } = report;
  return [
    `Config daemon on the ${host}; ${date}`,
    describeRun(report),
    "Seconds from the change of the spec at the API server; CPU, forks and requests of the daemon until it is idle again",
    "",
    renderTable(
      changeHead,
      changes.map((change) => changeRow(change, kernelTimes[change.title])),
    ),
    "",
    renderTable(costHead, [...starts.map(startRow), idleRow(idle), ...flaps.map(flapRow), ...refusals.map(refusalRow)]),
    "",
    ...refusals.map(({ title, words }) => `${title}: "${words}"`),
    `Peak RSS ${showMb(report.peakMb)}`,
    "",
    ...goalLines(goals),
    "",
  ].join("\n");
}

const costColumns = ["CPU", "forks", "requests"];
const changeHead = ["change", "kernel alone", "and udev", "first write", "Succeeded", "ratio", ...costColumns];
const costHead = ["", "time", "RSS", "working VFs", ...costColumns];

function changeRow(change: ChangeResult, kernel: KernelTime | undefined): readonly string[] {
  const { settledSeconds, firstWriteSeconds } = change;
  return [
    titleOf(change),
    showSeconds(kernel?.seconds),
    showSeconds(kernel?.withUdevSeconds),
    showSeconds(firstWriteSeconds),
    showSeconds(settledSeconds),
    showRatio(kernel === undefined ? undefined : settledSeconds / kernel.seconds),
    ...costCells(change),
  ];
}

function titleOf({ title, round }: StartResult | ChangeResult): string {
  return round === 1 ? title : `${title} (${round})`;
}

function startRow(start: StartResult): readonly string[] {
  return [
    `${titleOf(start)}, until the NICs are shown`,
    showSeconds(start.seconds),
    showMb(start.rssMb),
    "",
    ...costCells(start),
  ];
}

function idleRow(idle: IdleResult): readonly string[] {
  return ["idle", showSeconds(idle.seconds), showMb(idle.rssMb), "", ...costCells(idle)];
}

function flapRow(flap: FlapResult): readonly string[] {
  return [flap.title, "", "", "", ...costCells(flap)];
}

function refusalRow(refusal: RefusalResult): readonly string[] {
  const { title, shownSeconds, isAnythingDestroyed } = refusal;
  return [
    `${title}, until Failed is shown`,
    showSeconds(shownSeconds),
    "",
    isAnythingDestroyed ? "destroyed" : "untouched",
    ...costCells(refusal),
  ];
}

function costCells({ cpuSeconds, childFaults, requests }: Cost): readonly string[] {
  return [
    showSeconds(cpuSeconds),
    childFaults === 0 ? "0" : "some",
    listCounts({ ...requests.writes, ...requests.reads }),
  ];
}
