// SPDX-License-Identifier: Apache-2.0
/**
 * The report of the diagnosis benchmark. Pure.
 * Usage: `process.stdout.write(renderDiagnosisReport(report))`
 */
import type { BenchReport } from "../harness/bench.ts";
import { describeRun, goalLines } from "../harness/report-lines.ts";
import { renderTable, showMb, showSeconds } from "../harness/table.ts";
import type { CommandResult } from "./diagnosis-goals.ts";
import type { DiagnosisOptions } from "./diagnosis-options.ts";

/** The report of the benchmark. */
export interface DiagnosisReport extends BenchReport {
  readonly bench: "diagnosis";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<DiagnosisOptions, "nodes" | "vfs" | "rounds">;
  readonly commands: readonly CommandResult[];
}

export function renderDiagnosisReport(report: DiagnosisReport): string {
  const { options, commands, goals, date } = report;
  return [
    `switchyard with files of ${options.nodes} nodes, 2 PFs with ${options.vfs} VFs each, ${options.rounds} rounds; ${date}`,
    describeRun(report),
    "",
    renderTable(
      ["command", "best", "worst", "peak RSS", "output"],
      commands.map(({ title, seconds, peakMb, bytes }) => [
        ...[title, showSeconds(Math.min(...seconds)), showSeconds(Math.max(...seconds))],
        ...[peakMb.length === 0 ? "-" : showMb(Math.min(...peakMb)), `${(bytes / 1e6).toFixed(2)} MB`],
      ]),
    ),
    "",
    ...goalLines(goals),
    "",
  ].join("\n");
}
