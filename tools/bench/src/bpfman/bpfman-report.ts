// SPDX-License-Identifier: Apache-2.0
/** The report of the benchmark of bpfman. Pure. */
import type { BenchReport } from "../harness/bench.ts";
import { atMost, type Goal } from "../harness/goal.ts";
import {
  complaintLines,
  describeRun,
  goalLines,
  renderTable,
  showMb,
  showRatio,
  showSeconds,
} from "../harness/report-lines.ts";
import { listCounts, total, withoutLeases, type RequestCount } from "../harness/request-count.ts";
import type { BpfmanOptions } from "./bpfman-options.ts";

const timesPlain = 1.25;

const moreMb = 20;

export const bpfmanStepTitles = {
  load: "loader bpfman, objects for all devices",
  loaded: "bpfman reports all programs",
  restart: "restart, converged",
  remove: "loader builtin, all devices confirmed",
} as const;

/** The cost of a step. Times are seconds from the first write of the step. */
export interface BpfmanStepResult {
  readonly id: keyof typeof bpfmanStepTitles;
  /** Until the last object existed, or was gone; absent if no object must change. */
  readonly seconds?: number;
  /** Of the plain client for the same writes. */
  readonly plainSeconds?: number;
  /** CPU time of the operator until it is idle again. */
  readonly cpuSeconds: number;
  readonly rssMb: number;
  /** The largest RSS since the operator's start. */
  readonly peakMb: number;
  /** Requests of the operator. */
  readonly requests: RequestCount;
}

/** The report of the benchmark. */
export interface BpfmanReport extends BenchReport {
  readonly bench: "bpfman";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<BpfmanOptions, "nodes" | "connections">;
  /** The largest RSS of the operator with all policies and loader builtin. */
  readonly builtinPeakMb: number;
  readonly steps: readonly BpfmanStepResult[];
  /** Warnings and errors in the operator's log. */
  readonly complaints: readonly string[];
}

export function renderBpfmanReport(report: BpfmanReport): string {
  const { options, steps, goals, complaints, date, builtinPeakMb } = report;
  return [
    `operator, ${options.nodes} nodes with two AF_XDP devices each; ${date}`,
    describeRun(report),
    `Plain client: writes the same objects and statuses over ${options.connections} connections`,
    `Peak RSS with loader builtin: ${showMb(builtinPeakMb)}`,
    "",
    renderTable(head, steps.map(rowOf)),
    "",
    ...goalLines(goals),
    ...complaintLines("operator", complaints),
    "",
  ].join("\n");
}

const head = ["step", "all nodes", "plain client", "ratio", "CPU", "RSS", "peak", "writes (without leases)"];

function rowOf({
  id,
  seconds,
  plainSeconds,
  cpuSeconds,
  rssMb,
  peakMb,
  requests,
}: BpfmanStepResult): readonly string[] {
  const ratio = seconds === undefined || plainSeconds === undefined ? undefined : seconds / plainSeconds;
  return [
    bpfmanStepTitles[id],
    ...[showSeconds(seconds), showSeconds(plainSeconds), showRatio(ratio)],
    ...[showSeconds(cpuSeconds), showMb(rssMb), showMb(peakMb)],
    listCounts(withoutLeases(requests.writes)),
  ];
}

/**
 * The goals of the benchmark of bpfman. Pure.
 * The goals for time apply to at least 1,000 nodes: with fewer, code that is not yet compiled dominates.
 */
export function bpfmanGoals({
  steps,
  options: { nodes },
  builtinPeakMb,
}: Pick<BpfmanReport, "steps" | "builtinPeakMb"> & { readonly options: { readonly nodes: number } }): readonly Goal[] {
  const step = (id: BpfmanStepResult["id"]) => steps.find((one) => one.id === id);
  const restart = step("restart");
  const peaks = steps.map(({ peakMb }) => peakMb);
  const ratioOf = (id: BpfmanStepResult["id"]) => {
    const { seconds = Number.NaN, plainSeconds = Number.NaN } = step(id) ?? {};
    return atMost(`${bpfmanStepTitles[id]} / plain client`, seconds / plainSeconds, timesPlain, "x");
  };
  return [
    ...(nodes < 1000 ? [] : [ratioOf("load"), ratioOf("remove")]),
    atMost(`${bpfmanStepTitles.restart}, writes`, restart && total(withoutLeases(restart.requests.writes)), 0, ""),
    atMost("peak RSS more than with loader builtin", Math.max(...peaks) - builtinPeakMb, moreMb, "MB"),
  ];
}
