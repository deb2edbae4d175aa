// SPDX-License-Identifier: Apache-2.0
/**
 * Lines that the reports of all benchmarks share. Pure.
 * Usage: `[describeRun(report), ...goalLines(report.goals)].join("\n")`
 */
import { describeGoal, missedGoals, type Goal } from "./goal.ts";
import { describeMachine, type MachineFacts } from "./machine-facts.ts";

/** The machine and the versions of the programs in one line. */
export function describeRun(report: {
  readonly machine: MachineFacts;
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
