// SPDX-License-Identifier: Apache-2.0
/**
 * The report of the ovsdb benchmark. Pure.
 * Usage: `process.stdout.write(renderOvsdbReport(report))`
 */
import type { BenchReport } from "../harness/bench.ts";
import { describeRun, goalLines } from "../harness/report-lines.ts";
import { renderTable, showMb } from "../harness/table.ts";
import { quantile, type OvsdbTimes } from "./ovsdb-goals.ts";
import type { OvsdbOptions } from "./ovsdb-options.ts";

/** The report of the benchmark. */
export interface OvsdbReport extends BenchReport, OvsdbTimes {
  readonly bench: "ovsdb";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<OvsdbOptions, "bridges" | "rounds" | "changes">;
  /** Growth of this process's RSS by the first client with all rows. */
  readonly cacheMb: number;
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
