// SPDX-License-Identifier: Apache-2.0
/** The report of the diagnosis benchmark. Pure. */
import type { BenchReport } from "../harness/bench.ts";
import { atMost, type Goal } from "../harness/goal.ts";
import { describeRun, goalLines, renderTable, showMb, showSeconds } from "../harness/report-lines.ts";
import type { DiagnosisOptions } from "./diagnosis-options.ts";

/** The report of the benchmark. */
export interface DiagnosisReport extends BenchReport {
  readonly bench: "diagnosis";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<DiagnosisOptions, "nodes" | "vfs" | "rounds">;
  readonly commands: readonly CommandResult[];
}

/** The plain client that only lists, to which "live" compares. */
export const listingTitle = "listing alone, live";

const limitSeconds = 3;

const limitBesideListing = 2;

const limitMb = 250;

const limitPageBytes = 1_000_000;

/**
 * The goals of the diagnosis benchmark. Pure.
 * One command with one form of the files, or the baseline.
 */
export interface CommandResult {
  /** "doctor -o html, YAML" */
  readonly title: string;
  /** The seconds and the peak RSS in MB of each round; no RSS if no process was started. */
  readonly seconds: readonly number[];
  readonly peakMb: readonly number[];
  /** Bytes that it printed. */
  readonly bytes: number;
  /** Absent for the baseline and for commands without a goal. */
  readonly goal?: "diagnosis" | "page" | "live";
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

/** Other work on the machine only adds to a time, so the best round counts. */
export function diagnosisGoals(commands: readonly CommandResult[]): readonly Goal[] {
  const listing = commands.find(({ title }) => title === listingTitle);
  return commands.flatMap(({ title, seconds, peakMb, bytes, goal }) => {
    if (goal === undefined) return [];
    if (goal === "live") {
      const more = listing && Math.min(...seconds) - Math.min(...listing.seconds);
      return [atMost(`${title}, beside the listing`, more, limitBesideListing, "s")];
    }
    return [
      atMost(title, Math.min(...seconds), limitSeconds, "s"),
      atMost(`${title}, peak RSS`, Math.min(...peakMb), limitMb, "MB"),
      ...(goal === "page" ? [atMost(`${title}, size of the page`, bytes / 1e6, limitPageBytes / 1e6, "MB")] : []),
    ];
  });
}
