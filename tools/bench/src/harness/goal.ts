// SPDX-License-Identifier: Apache-2.0
/** Goal compares a measured figure with a limit. Pure. */

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

/** The goal that a service ends within 10 s after SIGTERM. */
export function stopGoal(stopSeconds: readonly number[]): Goal {
  return atMost("end after SIGTERM", Math.max(...stopSeconds), 10, "s");
}

export function missedGoals(goals: readonly Goal[]): readonly Goal[] {
  return goals.filter(({ met }) => !met);
}

/** "first policy, all nodes: 4.2 s, goal 3.9 s" */
export function describeGoal({ what, value, limit, unit }: Goal): string {
  const show = (number: number) =>
    Number.isNaN(number) ? "not measured" : `${Math.round(number * 100) / 100} ${unit}`;
  return `${what}: ${show(value).trim()}, goal ${show(limit).trim()}`;
}

/** The middle value, or the mean of both middle values; NaN, which misses every goal, if one of the values is NaN. */
export function median(values: readonly number[]): number {
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}
