// SPDX-License-Identifier: Apache-2.0
/** The report of the ovsdb benchmark. Pure. */
import type { BenchReport } from "../harness/bench.ts";
import { atMost, type Goal } from "../harness/goal.ts";
import { describeRun, goalLines, renderTable, showMb } from "../harness/report-lines.ts";
import type { OvsdbOptions } from "./ovsdb-options.ts";

/** The report of the benchmark. */
export interface OvsdbReport extends BenchReport, OvsdbTimes {
  readonly bench: "ovsdb";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<OvsdbOptions, "bridges" | "rounds" | "changes">;
  /** Growth of this process's RSS by the first client with all rows. */
  readonly cacheMb: number;
}

/**
 * The goals of the ovsdb benchmark. Pure.
 * The measured times, in milliseconds.
 */
export interface OvsdbTimes {
  /** From the start of the client until its cache has all rows. */
  readonly clientMs: readonly number[];
  /** From the start of `ovsdb-client dump` to its end. */
  readonly dumpMs: readonly number[];
  /** From a transaction of one client to the event in another. */
  readonly changeMs: readonly number[];
}

export function renderOvsdbReport(report: OvsdbReport): string {
  const { options, clientMs, dumpMs, changeMs, cacheMb, goals, date } = report;
  const { bridges, rounds, changes } = options;
  return [
    `OVSDB client, ${bridges} bridges, ${rounds} rounds, ${changes} changes; ${date}`,
    describeRun(report),
    "",
    renderTable(
      ["what", "best", "median", "99 %"],
      [
        row("client: all rows in the cache", clientMs),
        row("ovsdb-client dump", dumpMs),
        row("client: arrival of a change", changeMs),
      ],
    ),
    "",
    `Memory of the cache: ${showMb(cacheMb)}`,
    ...goalLines(goals),
    "",
  ].join("\n");
}

function row(what: string, times: readonly number[]): readonly string[] {
  return [what, ...[0, 0.5, 0.99].map((q) => `${quantile(times, q).toFixed(1)} ms`)];
}

/** Other work on the machine only adds to a time, so the best times are compared, and the median of the changes. */
export function ovsdbGoals({ clientMs, dumpMs, changeMs }: OvsdbTimes): readonly Goal[] {
  const ratio = Math.min(...clientMs) / Math.min(...dumpMs);
  return [
    atMost("all rows in the cache beside ovsdb-client dump", ratio, 1.5, "x"),
    atMost("arrival of a change, median", quantile(changeMs, 0.5), 10, "ms"),
  ];
}

/** The value below which the fraction `q` of `times` lies. */
function quantile(times: readonly number[], q: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN;
}
