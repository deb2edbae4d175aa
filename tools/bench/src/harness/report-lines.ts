// SPDX-License-Identifier: Apache-2.0
/** Lines that the reports of all benchmarks share. Pure. */
import { describeGoal, missedGoals, type Goal } from "./goal.ts";
import { describeMachine, type MachineDescription } from "./machine.ts";

/** The machine and the versions of the programs in one line. */
export function describeRun(report: {
  readonly machine: MachineDescription;
  readonly versions: Readonly<Record<string, string>>;
}): string {
  const programs = Object.entries(report.versions).map(([name, version]) => `${name} ${version}`);
  return `${describeMachine(report.machine)}; ${programs.join(", ")}`;
}

/** How many goals are met, and a line for each missed goal. */
export function goalLines(goals: readonly Goal[]): readonly string[] {
  const missed = missedGoals(goals);
  return [
    `${goals.length - missed.length} of ${goals.length} goals met`,
    ...missed.map((goal) => `  missed: ${describeGoal(goal)}`),
  ];
}

const mostComplaints = 5;
const longestComplaint = 300;

/** The number of warnings and errors in the log of `program`, and the first of them; empty if there are none. */
export function complaintLines(program: string, complaints: readonly string[]): readonly string[] {
  if (complaints.length === 0) return [];
  return [
    `The ${program}'s log has ${complaints.length} warnings or errors. The first are:`,
    ...complaints.slice(0, mostComplaints).map((line) => `  ${line.slice(0, longestComplaint)}`),
  ];
}

/**
 * renderTable renders a table that is readable in a terminal and is valid Markdown. Pure.
 * Pads all columns to their widest cell. Rows may have fewer cells than the head.
 */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0), 3));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width)).join(" | ")} |`;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)].join("\n");
}

/** "0.25 s", "12.5 s" or "125 s"; "-" for undefined. */
export function showSeconds(seconds: number | undefined): string {
  if (seconds === undefined) return "-";
  return `${seconds.toFixed(seconds < 10 ? 2 : seconds < 100 ? 1 : 0)} s`;
}

/** "1.08 x" */
export function showRatio(ratio: number | undefined): string {
  return ratio === undefined ? "-" : `${ratio.toFixed(2)} x`;
}

/** "118 MB" */
export function showMb(mb: number | undefined): string {
  return mb === undefined ? "-" : `${Math.round(mb)} MB`;
}
