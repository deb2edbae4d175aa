// SPDX-License-Identifier: Apache-2.0
/**
 * The goals of the daemon benchmark. Pure.
 * Usage: `missedGoals(daemonGoals(report))`
 */
import { atMost, stopGoal, type Goal } from "../harness/goal.ts";
import { total } from "../harness/request-count.ts";
import type { DaemonReport } from "./daemon-report.ts";
import type { ChangeResult } from "./daemon-results.ts";

const timesKernel = 1.3;
const ownSeconds = 0.3;
const requestsPerChange = 4;
const refusalSeconds = 1;
const rssMb = 65;

/**
 * An idle daemon must use no CPU time. The limits are what the clock of /proc cannot distinguish from 0, as a share
 * of one processor. A second in the emulated guest is about ten seconds of this machine.
 */
const idleShare = { "fake kernel": 0.002, "VM lab, igb": 0.02 };

export function daemonGoals(report: Omit<DaemonReport, "goals">): readonly Goal[] {
  const { changes, refusals, idle, peakMb } = report;
  const titles = new Set(changes.map(({ title }) => title));
  return [
    ...[...titles].map((title) => timeGoal(title, changes, report.kernelTimes[title]?.seconds ?? 0)),
    ...changes.flatMap(({ title, round, childFaults, requests }) => [
      atMost(`${title} (${round}), forks`, childFaults === 0 ? 0 : 1, 0, ""),
      atMost(`${title} (${round}), requests`, total(requests.writes) + total(requests.reads), requestsPerChange, ""),
    ]),
    ...refusals.flatMap(({ title, shownSeconds, isAnythingDestroyed }) => [
      atMost(`${title}, error shown`, shownSeconds, refusalSeconds, "s"),
      atMost(`${title}, working VFs destroyed`, isAnythingDestroyed ? 1 : 0, 0, ""),
    ]),
    atMost("idle, CPU", idle.cpuSeconds, idle.seconds * idleShare[report.host], "s"),
    atMost("idle, requests", total(idle.requests.writes) + total(idle.requests.reads), 0, ""),
    atMost("idle, forks", idle.childFaults === 0 ? 0 : 1, 0, ""),
    stopGoal(report.stopSeconds),
    atMost("peak RSS", peakMb, rssMb, "MB"),
  ];
}

/** Compares the best of all rounds, because other work on the machine only makes a round slower. */
function timeGoal(title: string, changes: readonly ChangeResult[], kernelSeconds: number): Goal {
  const best = Math.min(...changes.filter((change) => change.title === title).map((change) => change.settledSeconds));
  return atMost(`${title}, Succeeded`, best, kernelSeconds * timesKernel + ownSeconds, "s");
}
