// SPDX-License-Identifier: Apache-2.0
/**
 * The figures of a daemon, for people. Pure.
 * Usage: `process.stdout.write(renderDaemonReport(report))`
 */
import { describeGoal, missedGoals } from "../harness/goal.ts";
import { describeMachine } from "../harness/machine-facts.ts";
import { listCounts } from "../harness/request-count.ts";
import { renderTable, showMb, showRatio, showSeconds } from "../harness/table.ts";
import type { KernelTime } from "./kernel-baseline.ts";
import type { ChangeResult, Cost, DaemonReport, IdleResult, RefusalResult, StartResult } from "./daemon-results.ts";

export function renderDaemonReport(report: DaemonReport): string {
  const { host, date, machine, versions, kernelTimes, starts, changes, refusals, idle, goals } = report;
  const missed = missedGoals(goals);
  const programs = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `Config daemon on the ${host}; ${date}`,
    `${describeMachine(machine)}; ${programs.join(", ")}`,
    "Seconds from the order at the API server; CPU, forks and requests of the daemon until it rests again",
    "",
    renderTable(
      changeHead,
      changes.map((change) => changeRow(change, kernelTimes[change.title])),
    ),
    "",
    renderTable(costHead, [...starts.map(startRow), idleRow(idle), ...refusals.map(refusalRow)]),
    "",
    ...refusals.map(({ title, words }) => `${title}: "${words}"`),
    `Peak RSS ${showMb(report.peakMb)}`,
    "",
    `${goals.length - missed.length} of ${goals.length} goals met`,
    ...missed.map((goal) => `  missed: ${describeGoal(goal)}`),
    "",
  ].join("\n");
}

const costColumns = ["CPU", "forks", "requests"];
const changeHead = ["change", "kernel alone", "and udev", "first write", "Succeeded", "ratio", ...costColumns];
const costHead = ["", "time", "RSS", "working VFs", ...costColumns];

function changeRow(change: ChangeResult, kernel: KernelTime | undefined): readonly string[] {
  const { title, round, settledSeconds, firstWriteSeconds } = change;
  return [
    round === 1 ? title : `${title} (${round})`,
    showSeconds(kernel?.seconds),
    showSeconds(kernel?.withUdevSeconds),
    showSeconds(firstWriteSeconds),
    showSeconds(settledSeconds),
    showRatio(kernel === undefined ? undefined : settledSeconds / kernel.seconds),
    ...costCells(change),
  ];
}

function startRow(start: StartResult): readonly string[] {
  return [
    `${start.title}, until the NICs are shown`,
    showSeconds(start.seconds),
    showMb(start.rssMb),
    "",
    ...costCells(start),
  ];
}

function idleRow(idle: IdleResult): readonly string[] {
  return ["idle", showSeconds(idle.seconds), showMb(idle.rssMb), "", ...costCells(idle)];
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
