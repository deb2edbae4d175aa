// SPDX-License-Identifier: Apache-2.0
/**
 * A step is a part of a scenario whose cost is measured: first of the measured program alone, then of the plain client that makes the
 * same writes.
 */
import { renderTable } from "@switchyard/testing";
import { countRequests, listCounts, total, withoutLeases, type AuditTail, type RequestCount } from "./requests.ts";
import { atMost, median, showMb, showRatio, showSeconds, type Goal } from "./report.ts";
import { loadBetween, readLoad, untilIdle, type IdleOptions, type Load, type ProcessReading } from "./proc.ts";

/** What a program used until it was idle again. */
export interface Cost {
  readonly cpuSeconds: number;
  /** Page faults of the processes that it started and that have ended; 0 means that there were none. */
  readonly childFaults?: number;
  readonly rssMb: number;
  /** The largest RSS since the start of the process. */
  readonly peakMb: number;
  readonly requests: RequestCount;
}

/** Times are seconds from the first write of the step, unless the scenario says otherwise. */
export interface StepResult<Id extends string = string> extends Cost {
  readonly id: Id;
  /** Number of the round, from 1. Steps that run once are in round 1. */
  readonly round: number;
  /** Until the first and the last object was written; absent if nothing must change. */
  readonly firstSeconds?: number;
  readonly seconds?: number;
  /** Until the last write of a status that has a pace of its own. */
  readonly statusSeconds?: number;
  /** Of the plain client for the same writes; absent if nothing is written. */
  readonly plainSeconds?: number;
  /** Number of changes of specs; more than the nodes if some were written twice. */
  readonly specChanges?: number;
  /** Size of all bodies that were written. */
  readonly bytes?: number;
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
  /** Waits for what happens after `act`; its time does not count. */
  readonly settle?: () => Promise<unknown>;
}

/** Measures `act` until the program is idle again. */
export async function measureCost<Outcome>(
  program: Observed,
  act: () => Promise<Outcome>,
  { signal, startsProcess = false, settle, ...idle }: CostOptions,
): Promise<{ readonly outcome: Outcome; readonly load: Load; readonly cost: Required<Cost> }> {
  await program.requests.read();
  const before = startsProcess ? undefined : await program.read();
  const loadBefore = readLoad();
  const outcome = await act();
  const load = loadBetween(loadBefore, readLoad());
  await settle?.();
  await untilIdle(program, signal, idle);
  const { cpuSeconds, childFaults, rssMb, peakMb } = await program.read();
  const requests = countRequests(await program.requests.read());
  const [cpuBefore, faultsBefore] = [before?.cpuSeconds ?? 0, before?.childFaults ?? 0];
  const cost = { cpuSeconds: cpuSeconds - cpuBefore, childFaults: childFaults - faultsBefore, rssMb, peakMb, requests };
  return { outcome, load, cost };
}

/** Measures the writes of the plain client, until `act` ends or until the time that it returns. */
export async function measurePlainly(
  act: () => Promise<unknown>,
): Promise<Pick<StepResult, "plainSeconds" | "plainLoad">> {
  const loadBefore = readLoad();
  const beginMs = performance.now();
  const endMs = await act();
  const nowMs = performance.now();
  const plainSeconds = ((typeof endMs === "number" ? endMs : nowMs) - beginMs) / 1000;
  return { plainSeconds, plainLoad: loadBetween(loadBefore, readLoad()) };
}

/** Titles of steps. */
export type Titles<Id extends string> = Readonly<Record<Id, string>>;

/** "first policy", "first policy (2)" */
export function titleOf<Id extends string>(
  titles: Titles<Id>,
  { id, round }: Pick<StepResult<Id>, "id" | "round">,
): string {
  return round === 1 ? titles[id] : `${titles[id]} (${round})`;
}

/** A table with a row for each step. A column in which no step has a value is left out. */
export function stepTable<Id extends string>(titles: Titles<Id>, steps: readonly StepResult<Id>[]): string {
  const rows = steps.map((step) => stepCells(titles, step));
  const heads = Object.keys(rows[0] ?? {}).filter((head) => rows.some((row) => row[head] !== undefined));
  return renderTable(
    heads,
    rows.map((row) => heads.map((head) => row[head] ?? "-")),
  );
}

/** The cells of a step by the heads of their columns. */
export function stepCells<Id extends string>(
  titles: Titles<Id>,
  step: StepResult<Id>,
): Readonly<Record<string, string | undefined>> {
  const { firstSeconds, seconds, plainSeconds, statusSeconds, bytes, requests } = step;
  const loads = [step.load, step.plainLoad].filter((load) => load !== undefined);
  const time = (value: number | undefined) => (value === undefined ? undefined : showSeconds(value));
  const failed = total(requests.failed) === 0 ? "" : `; refused: ${listCounts(requests.failed)}`;
  return {
    step: titleOf(titles, step),
    first: time(firstSeconds),
    all: time(seconds),
    "plain client": time(plainSeconds),
    ratio: showRatio(seconds, plainSeconds),
    status: time(statusSeconds),
    "all CPU": loads.map(({ ownSeconds }) => showSeconds(ownSeconds)).join(" / "),
    "others busy": loads.map(({ othersBusy }) => othersBusy.toFixed(1)).join(" / "),
    CPU: showSeconds(step.cpuSeconds),
    RSS: showMb(step.rssMb),
    peak: showMb(step.peakMb),
    size: bytes === undefined ? undefined : `${Math.ceil(bytes / 1000)} kB`,
    "writes (without leases)": `${listCounts(withoutLeases(requests.writes))}${failed}`,
  };
}

/** The lines that explain the columns of the table. */
export const stepLegend: readonly string[] = [
  "First, all: seconds until the first and the last object was written by the measured program",
  "All CPU: CPU time of API server, etcd, the program and the harness until then; with the program / the plain client",
  "Others busy: processors that other programs on this machine used meanwhile; times can be compared only if it is 0",
];

interface PlainLimit<Id extends string> {
  readonly titles: Titles<Id>;
  readonly timesPlain: number;
  /** How long the program waits for further changes, by step. Other steps have no goal. */
  readonly waitSeconds: Readonly<Partial<Record<Id, number>>>;
}

/**
 * Compares the time of a step, without what the program waits for further changes, with that of the plain client. In each
 * round both run one after the other on the same machine. The median of the ratios is more reliable than a duration.
 */
export function plainGoals<Id extends string>(
  results: readonly StepResult<Id>[],
  { titles, timesPlain, waitSeconds }: PlainLimit<Id>,
): readonly Goal[] {
  return [...Map.groupBy(results, ({ id }) => id)].flatMap(([id, rounds]) => {
    const waits = waitSeconds[id];
    if (waits === undefined) return [];
    const ratios = rounds.map(
      ({ seconds = Number.NaN, plainSeconds = Number.NaN }) => Math.max(0, seconds - waits) / plainSeconds,
    );
    const what = `${titles[id]}${waits === 0 ? "" : ", after the debounce"} / plain client`;
    return [atMost(what, median(ratios), timesPlain, "x")];
  });
}

/** The goals that steps without a change write nothing. */
export function quietGoals<Id extends string>(
  results: readonly StepResult<Id>[],
  { titles, quiet }: { readonly titles: Titles<Id>; readonly quiet: readonly Id[] },
): readonly Goal[] {
  return results
    .filter(({ id }) => quiet.includes(id))
    .map((result) => atMost(`${titleOf(titles, result)}, writes`, total(withoutLeases(result.requests.writes)), 0, ""));
}
