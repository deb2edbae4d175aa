// SPDX-License-Identifier: Apache-2.0
/** The report of the cni benchmark. Pure. */
import type { BenchReport } from "../harness/bench.ts";
import { atMost, type Goal } from "../harness/goal.ts";
import { describeMachine } from "../harness/machine.ts";
import { goalLines, renderTable, showMb, showRatio } from "../harness/report-lines.ts";

/**
 * The goals of the cni benchmark. Pure.
 * The titles of the series.
 */
export const titles = {
  node: "node -e 0",
  stock: "bridge VERSION (Go)",
  version: "VERSION",
  add: "ADD, virtual machine",
} as const;

/** The report of the benchmark. */
export interface CniReport extends BenchReport, CniResults {
  readonly bench: "cni";
  readonly rounds: number;
  /** Other ways to start the plugin (--forms). */
  readonly forms: readonly CniSeries[];
  /** Size of the program with its code cache. */
  readonly programBytes: number;
  /** Size of the whole installation, including Node. */
  readonly installedBytes: number;
}

/**
 * The results of the cni benchmark, from which its goals and its report are made.
 * One program that was started many times.
 */
export interface CniSeries {
  readonly title: string;
  /** Durations of the runs. For an ADD, the time that zedrouter took is subtracted. */
  readonly ownMs: readonly number[];
  readonly peakMb?: number;
}

/** What the goals are compared with. */
export interface CniResults {
  /** The first series is the baseline. */
  readonly series: readonly CniSeries[];
  /** Many ADDs started at the same time; seconds until the last one has ended. */
  readonly atOnce: {
    readonly count: number;
    readonly failed: number;
    readonly addSeconds: number;
    readonly nodeSeconds: number;
  };
}

export function renderCniReport(report: CniReport): string {
  const { machine, date, rounds, series, forms, atOnce, programBytes, installedBytes, goals } = report;
  const [base] = series;
  const rows = (some: readonly CniSeries[]) => some.map((one) => seriesRow(one, base));
  return [
    `CNI plugin eve-bridge; ${date}`,
    describeMachine(machine),
    `Own time in milliseconds, ${rounds} runs of each program in turn; the ratio compares the 5th percentiles`,
    "",
    renderTable(head, rows(series)),
    ...(forms.length > 0 ? ["", renderTable(["other ways to start it", ...head.slice(1)], rows(forms))] : []),
    "",
    `${atOnce.count} ADDs at once: ${atOnce.addSeconds.toFixed(2)} s, ${atOnce.failed} failed; as many \`node -e 0\`: ${atOnce.nodeSeconds.toFixed(2)} s`,
    `Program with code cache ${Math.round(programBytes / 1024)} KB; with Node and its libraries ${showMb(installedBytes / 2 ** 20)}`,
    "",
    ...goalLines(goals),
    "",
  ].join("\n");
}

const head = ["", "p5", "p25", "p50", "ratio", "RSS"];

function seriesRow({ title, ownMs, peakMb }: CniSeries, base: CniSeries | undefined): readonly string[] {
  const sorted = [...ownMs].sort((a, b) => a - b);
  const show = (ms: number | undefined) => (ms === undefined ? "-" : ms.toFixed(1));
  return [
    title,
    show(typicalShortTime(ownMs)),
    show(sorted[Math.floor(sorted.length / 4)]),
    show(sorted[Math.floor(sorted.length / 2)]),
    showRatio(base === undefined ? undefined : typicalShortTime(ownMs) / typicalShortTime(base.ownMs)),
    showMb(peakMb),
  ];
}

/** The goals for the results. */
export function cniGoals({ series, atOnce }: CniResults): Goal[] {
  const find = (title: string) => series.find((one) => one.title === title);
  const base = find(titles.node);
  const ratio = (title: string) => {
    const one = find(title);
    return base === undefined || one === undefined
      ? undefined
      : typicalShortTime(one.ownMs) / typicalShortTime(base.ownMs);
  };
  return [
    atMost("VERSION beside node -e 0", ratio(titles.version), 1.15, "x"),
    atMost("own time of an ADD beside node -e 0", ratio(titles.add), 1.4, "x"),
    atMost("RSS of an ADD", find(titles.add)?.peakMb, 50, "MB"),
    atMost(`failures of ${atOnce.count} ADDs at once`, atOnce.failed, 0, ""),
  ];
}

/**
 * The 5th percentile of `times`. All runs do the same work, so longer times come from other work on the machine; the
 * shortest time of all is an outlier.
 */
export function typicalShortTime(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 20)] ?? Number.NaN;
}
