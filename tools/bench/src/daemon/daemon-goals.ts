// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of the daemon benchmark. Pure.
 * Usage: `missedGoals(daemonGoals(report))`
 */
import { atMost, stopGoal, type Goal } from "../harness/goal.ts";
import { total } from "../harness/request-count.ts";
import type { DaemonReport } from "./daemon-report.ts";
import type { ChangeResult } from "./daemon-results.ts";
import { guestChanges } from "./kernel-baseline.ts";

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
