// SPDX-License-Identifier: Apache-2.0
/** The report of the daemon benchmark. Pure. */
import type { BenchReport } from "../harness/bench.ts";
import { atMost, stopGoal, type Goal } from "../harness/goal.ts";
import { describeRun, goalLines, renderTable, showMb, showRatio, showSeconds } from "../harness/report-lines.ts";
import { listCounts, total } from "../harness/request-count.ts";
import type { ChangeResult, Cost, FlapResult, IdleResult, RefusalResult, StartResult } from "./daemon-results.ts";
import { guestChanges, type KernelTime, type KernelTimes } from "./kernel-baseline.ts";

/** On the fake kernel, PFs are configured in parallel as on a real one, but without udev. */
const goalsOf = {
  "fake kernel": { timesKernel: 1.2, ownSeconds: 0.3, rssMb: 65 },
  "VM lab, igb": { timesKernel: 1.3, ownSeconds: 0.5, rssMb: 65 },
  "VM lab, igbsw and Open vSwitch": { timesKernel: 1.3, ownSeconds: 0, rssMb: 70 },
  "VM lab, igbsw and subfunctions": { timesKernel: 1.3, ownSeconds: 0, rssMb: 70 },
};

/** Both node states show the eswitch mode of a PF that gets subfunctions. */
const moreRequests: Partial<Record<DaemonReport["host"], number>> = { "VM lab, igbsw and subfunctions": 1 };

const startSeconds = 2.5;

const changeCpuSeconds = 0.7;

const requestsPerChange = 4;

const refusalSeconds = 1;

/** The share of one processor that an idle daemon may use, and the resolution of the clock of /proc. */
const idleShare = 0.001;

const clockTick = 0.01;

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

/** The goals of the daemon benchmark. Pure. */
export function daemonGoals(report: Omit<DaemonReport, "goals">): readonly Goal[] {
  const { changes, refusals, flaps, idle, peakMb, host } = report;
  const mostRequests = requestsPerChange + (moreRequests[host] ?? 0);
  const titles = new Set(changes.map(({ title }) => title));
  return [
    ...Object.entries(bestStarts(report)).map(([title, seconds]) => atMost(title, seconds, startSeconds, "s")),
    ...[...titles].flatMap((title) => changeGoals(title, report)),
    ...changes.flatMap(({ title, round, childFaults, requests }) => [
      atMost(`${title} (${round}), forks`, childFaults === 0 ? 0 : 1, 0, ""),
      atMost(`${title} (${round}), requests`, total(requests.writes) + total(requests.reads), mostRequests, ""),
    ]),
    ...refusals.flatMap(({ title, shownSeconds, isAnythingDestroyed }) => [
      atMost(`${title}, error shown`, shownSeconds, refusalSeconds, "s"),
      atMost(`${title}, working VFs destroyed`, isAnythingDestroyed ? 1 : 0, 0, ""),
    ]),
    ...flaps.flatMap(({ title, requests }) => [
      atMost(`${title}, writes`, total(requests.writes), 1, ""),
      atMost(`${title}, reads`, total(requests.reads), 0, ""),
    ]),
    atMost("idle, CPU", inTicks(idle.cpuSeconds), idle.seconds * idleShare + clockTick, "s"),
    atMost("idle, requests", total(idle.requests.writes) + total(idle.requests.reads), 0, ""),
    atMost("idle, forks", idle.childFaults === 0 ? 0 : 1, 0, ""),
    stopGoal(report.stopSeconds),
    atMost("peak RSS", peakMb, goalsOf[host].rssMb, "MB"),
  ];
}

/** Without the error of floating point: a difference of 4 ticks is 0.04, not 0.040000000000000036. */
function inTicks(seconds: number): number {
  return Math.round(seconds / clockTick) * clockTick;
}

/** The seconds of the best round of each start: other work, and an emulator that must first translate the code, only make it slower. */
function bestStarts({ starts }: Omit<DaemonReport, "goals">): Readonly<Record<string, number>> {
  const best: Record<string, number> = {};
  for (const { title, seconds } of starts) best[title] = Math.min(best[title] ?? seconds, seconds);
  return best;
}

/** Compares the best of all rounds, because other work on the machine only makes a round slower. */
function changeGoals(title: string, { changes, kernelTimes, host }: Omit<DaemonReport, "goals">): readonly Goal[] {
  const rounds = changes.filter((change) => change.title === title);
  const bestOf = (figure: (change: ChangeResult) => number) => Math.min(...rounds.map(figure));
  const { timesKernel, ownSeconds } = goalsOf[host];
  const limit = (kernelTimes[title]?.withUdevSeconds ?? 0) * timesKernel + ownSeconds;
  return [
    // Without the time of the kernel, only the CPU time has a goal.
    ...(ownSeconds === 0 && kernelTimes[title] === undefined
      ? []
      : [
          atMost(
            `${title}, Succeeded`,
            bestOf(({ settledSeconds }) => settledSeconds),
            limit,
            "s",
          ),
        ]),
    ...(title === guestChanges.zeroToFour
      ? [
          atMost(
            `${title}, CPU`,
            bestOf(({ cpuSeconds }) => cpuSeconds),
            changeCpuSeconds,
            "s",
          ),
        ]
      : []),
  ];
}
