// SPDX-License-Identifier: Apache-2.0
/**
 * A step is a part of a scenario whose cost is measured: first of the measured program alone, then of the plain client that repeats
 * its writes. Its kind has its goals as data.
 */
import { renderTable, type AuditTail } from "@switchyard/testing";
import { countRequests, listCounts, total, withoutLeases, type RequestCount } from "./requests.ts";
import { atMost, median, showMb, showRatio, showSeconds, type Goal } from "./report.ts";
import { untilIdle, type IdleOptions, type Load, type ProcessReading } from "./proc.ts";

/** What a step does, and its goals. */
export interface StepKind {
  readonly title: string;
  /** What the program waits for further changes at most. The rest of its time is compared with that of the plain client. */
  readonly waitSeconds?: number;
  /** The goal for the CPU time at 1,000 nodes. It grows with the number of nodes. */
  readonly cpuSeconds?: number;
  /** For a step without effect, in which nothing must be written: the goal for its CPU time, if it has one. */
  readonly quiet?: { readonly cpuSeconds?: number };
}

/** What a program used until it was idle again. */
export interface Cost {
  readonly cpuSeconds: number;
  /** Page faults of the processes that it started and that have ended; 0 means that there were none. */
  readonly childFaults: number;
  readonly rssMb: number;
  /** The largest RSS since the start of the process. */
  readonly peakMb: number;
  readonly requests: RequestCount;
}

/** Times are seconds from the first write of the step, unless the scenario says otherwise. */
export interface StepResult extends Cost {
  readonly kind: StepKind;
  /** Number of the round, from 1. Steps that run once are in round 1. */
  readonly round: number;
  /** Until the first and the last object was written; absent if nothing was written. */
  readonly firstSeconds?: number;
  readonly seconds?: number;
  /** Until the last write of a status that has a pace of its own. */
  readonly statusSeconds?: number | undefined;
  /** Of the plain client for the same writes. */
  readonly plainSeconds?: number;
  /** Size of all bodies that were written. */
  readonly bytes: number;
  /**
   * Of the machine until the last write, for the program and for the plain client. Their times compare if others did
   * nothing; the CPU time of all together (API server, etcd, both clients) compares in any case.
   */
  readonly load: Load;
  readonly plainLoad?: Load;
}

/** A program whose cost is measured. */
export interface Observed {
  read(): ProcessReading | Promise<ProcessReading>;
  readonly requests: AuditTail;
}

export interface CostOptions extends IdleOptions {
  readonly signal: AbortSignal;
  /** Whether `act` starts the process, whose whole CPU time then belongs to the step. */
  readonly startsProcess?: boolean | undefined;
}

/** Measures `act` until the program is idle again. */
export async function measureCost<Outcome>(
  program: Observed,
  act: () => Promise<Outcome>,
  { signal, startsProcess = false, ...idle }: CostOptions,
): Promise<{ readonly outcome: Outcome; readonly cost: Cost }> {
  await program.requests.begin();
  const before = startsProcess ? { cpuSeconds: 0, childFaults: 0 } : await program.read();
  const outcome = await act();
  await untilIdle(program, signal, idle);
  const { cpuSeconds, childFaults, rssMb, peakMb } = await program.read();
  const used = { cpuSeconds: cpuSeconds - before.cpuSeconds, childFaults: childFaults - before.childFaults };
  return { outcome, cost: { ...used, rssMb, peakMb, requests: countRequests(await program.requests.read()) } };
}

/** "first policy", "first policy (2)" */
export function titleOf({ kind: { title }, round }: Pick<StepResult, "kind" | "round">): string {
  return round === 1 ? title : `${title} (${round})`;
}

/** The largest RSS in all steps; undefined without steps. */
export function peakOf(steps: readonly StepResult[]): number | undefined {
  return steps.length === 0 ? undefined : Math.max(...steps.map(({ peakMb }) => peakMb));
}

/** A table with a row for each step. A column in which no step has a value is left out. */
export function stepTable(steps: readonly StepResult[]): string {
  const rows = steps.map(stepCells);
  const heads = Object.keys(rows[0] ?? {}).filter((head) => rows.some((row) => row[head] !== undefined));
  return renderTable(
    heads,
    rows.map((row) => heads.map((head) => row[head] ?? "-")),
  );
}

/** The cells of a step by the heads of their columns. */
export function stepCells(step: StepResult): Readonly<Record<string, string | undefined>> {
  const { seconds, plainSeconds, bytes, requests } = step;
  const loads = [step.load, step.plainLoad].filter((load) => load !== undefined);
  const time = (value: number | undefined) => (value === undefined ? undefined : showSeconds(value));
  const failed = total(requests.failed) === 0 ? "" : `; refused: ${listCounts(requests.failed)}`;
  return {
    step: titleOf(step),
    first: time(step.firstSeconds),
    all: time(seconds),
    "plain client": time(plainSeconds),
    ratio: showRatio(seconds, plainSeconds),
    status: time(step.statusSeconds),
    "all CPU": loads.map(({ ownSeconds }) => showSeconds(ownSeconds)).join(" / "),
    "others busy": loads.map(({ othersBusy }) => othersBusy.toFixed(1)).join(" / "),
    CPU: showSeconds(step.cpuSeconds),
    RSS: showMb(step.rssMb),
    peak: showMb(step.peakMb),
    size: `${Math.ceil(bytes / 1000)} kB`,
    "writes (without leases)": `${listCounts(withoutLeases(requests.writes))}${failed}`,
  };
}

/** The lines that explain the columns of the table. */
export const stepLegend: readonly string[] = [
  "First, all: seconds until the first and the last object was written by the measured program",
  "All CPU: CPU time of API server, etcd, the program and the harness until then; with the program / the plain client",
  "Others busy: processors that other programs on this machine used meanwhile; times can be compared only if it is 0",
];

export interface StepGoals {
  readonly nodes: number;
  /** The limit for the time of a step, without what the program waits for further changes, as a multiple of the plain client's. */
  readonly timesPlain: number;
}

/** The goals of the kinds. Those for time and CPU time apply to `timedSteps` only, except in steps without effect. */
export function stepGoals(steps: readonly StepResult[], { nodes, timesPlain }: StepGoals): readonly Goal[] {
  const timed = timedSteps(steps, nodes);
  return [
    ...medianGoals(timed, ({ title, waitSeconds }) => {
      if (waitSeconds === undefined) return undefined;
      const what = `${title}${waitSeconds === 0 ? "" : ", after the debounce"} / plain client`;
      const valueOf = ({ seconds = Number.NaN, plainSeconds = Number.NaN }: StepResult) =>
        Math.max(0, seconds - waitSeconds) / plainSeconds;
      return { what, valueOf, limit: timesPlain, unit: "x" };
    }),
    ...medianGoals(timed, ({ title, cpuSeconds }) => {
      if (cpuSeconds === undefined) return undefined;
      const limit = cpuSeconds * (nodes / 1000);
      return { what: `${title}, CPU`, valueOf: (step) => step.cpuSeconds, limit, unit: "s" };
    }),
    ...steps.flatMap((step) => {
      const { quiet } = step.kind;
      if (quiet === undefined) return [];
      const title = titleOf(step);
      return [
        atMost(`${title}, writes`, total(withoutLeases(step.requests.writes)), 0, ""),
        ...(quiet.cpuSeconds === undefined ? [] : [atMost(`${title}, CPU`, step.cpuSeconds, quiet.cpuSeconds, "s")]),
      ];
    }),
  ];
}

/** The steps of at least 1,000 nodes: with fewer, the debounce and code that is not yet compiled dominate. */
export function timedSteps(steps: readonly StepResult[], nodes: number): readonly StepResult[] {
  return nodes < 1000 ? [] : steps;
}

interface MedianGoal extends Pick<Goal, "what" | "limit" | "unit"> {
  readonly valueOf: (step: StepResult) => number;
}

/**
 * Compares the median of the rounds of each kind with a limit. In each round the program and the plain client run one after the
 * other on the same machine, so the median of their ratios is more reliable than a duration.
 */
export function medianGoals(
  steps: readonly StepResult[],
  goalOf: (kind: StepKind) => MedianGoal | undefined,
): readonly Goal[] {
  return [...Map.groupBy(steps, ({ kind }) => kind)].flatMap(([kind, rounds]) => {
    const goal = goalOf(kind);
    return goal === undefined ? [] : [atMost(goal.what, median(rounds.map(goal.valueOf)), goal.limit, goal.unit)];
  });
}
