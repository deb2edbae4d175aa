// SPDX-License-Identifier: Apache-2.0
/** Goals, which compare a measured figure with a limit, and texts that the reports of all scenarios share. Pure. */

/** A figure and its limit. */
export interface Goal {
  /** What was measured. */
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  /** "s", "ms", "MB", "x", or "" for plain numbers. */
  readonly unit: string;
  readonly met: boolean;
}

/** A figure that must not exceed `limit`. An undefined value misses the goal. */
export function atMost(what: string, value: number | undefined, limit: number, unit: string): Goal {
  return { what, value: value ?? Number.NaN, limit, unit, met: value !== undefined && value <= limit };
}

/** A line for each missed goal: "first policy, all nodes: 4.2 s, goal 3.9 s". */
export function missedLines(goals: readonly Goal[]): readonly string[] {
  const show = (number: number, unit: string) =>
    Number.isNaN(number) ? "not measured" : `${Math.round(number * 100) / 100} ${unit}`.trim();
  return goals
    .filter(({ met }) => !met)
    .map(({ what, value, limit, unit }) => `${what}: ${show(value, unit)}, goal ${show(limit, unit)}`);
}

/** The middle value, or the mean of both middle values; NaN, which misses every goal, if one of the values is NaN. */
export function median(values: readonly number[]): number {
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

const mostComplaints = 5;

const longestComplaint = 300;

/** The number of warnings and errors in the log of the measured program, and the first of them; empty if there are none. */
export function complaintLines(complaints: readonly string[]): readonly string[] {
  if (complaints.length === 0) return [];
  return [
    `The log of the measured program has ${complaints.length} warnings or errors. The first are:`,
    ...complaints.slice(0, mostComplaints).map((line) => `  ${line.slice(0, longestComplaint)}`),
  ];
}

/** "0.25 s", "12.5 s" or "125 s"; "-" for undefined. */
export function showSeconds(seconds: number | undefined): string {
  if (seconds === undefined) return "-";
  return `${seconds.toFixed(seconds < 10 ? 2 : seconds < 100 ? 1 : 0)} s`;
}

/** "3.7 ms" */
export function showMs(ms: number | undefined): string {
  return ms === undefined ? "-" : `${ms.toFixed(ms < 100 ? 1 : 0)} ms`;
}

/** "1.08 x", the ratio of both values; "-" if one of them is undefined. */
export function showRatio(value: number | undefined, base: number | undefined): string {
  return value === undefined || base === undefined ? "-" : `${(value / base).toFixed(2)} x`;
}

/** "118 MB" */
export function showMb(mb: number | undefined): string {
  return mb === undefined ? "-" : `${Math.round(mb)} MB`;
}

/** The value below which the fraction `share` of the values lies; NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}
