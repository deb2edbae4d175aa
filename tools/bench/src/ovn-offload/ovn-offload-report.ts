// SPDX-License-Identifier: Apache-2.0
/** The report of the ovn-offload benchmark. Pure. */
import type { BenchReport } from "../harness/bench.ts";
import { atMost, median, type Goal } from "../harness/goal.ts";
import {
  complaintLines,
  describeRun,
  goalLines,
  renderTable,
  showMb,
  showRatio,
  showSeconds,
} from "../harness/report-lines.ts";
import { listCounts, total, withoutLeases } from "../harness/request-count.ts";
import { stepTitles, titleOf, type OffloadStepId, type OffloadStepResult } from "./offload-step-result.ts";
import type { OvnOffloadOptions } from "./ovn-offload-options.ts";

/** The report of the benchmark. */
export interface OvnOffloadReport extends BenchReport {
  readonly bench: "ovn-offload";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<OvnOffloadOptions, "nodes" | "pools" | "connections" | "rounds">;
  readonly steps: readonly OffloadStepResult[];
  /** Seconds from SIGTERM to the end of each process. */
  readonly stopSeconds: readonly number[];
  /** Warnings and errors in the log of ovn-offload. */
  readonly complaints: readonly string[];
}

const timesPlain = 2;

const peakMbAt1000 = 90;

const quietCpuSeconds = 0.1;

/** The debounce, the pause between two statuses of 1,000 hosts, and 1 s for writing one. */
const statusSecondsLimit = 7;

/** What ovn-offload waits at most for further changes before it writes. */
const debounceSeconds = 1;

/**
 * Stages of a step: what is written in one stage must be observed before the next. In each, ovn-offload waits for further
 * changes. 1: all can be written at once.
 */
const stages: Partial<Record<OffloadStepId, number>> = {
  select: 2, // labels and policies; DNS
  vfs: 1,
  boot: 2, // ports; labels
  deselect: 1,
  restore: 3, // labels of OVN-Kubernetes; ports, DNS and policies; labels of the pools
};

/** Steps in which nothing may be written. */
const quietSteps: readonly OffloadStepId[] = ["start", "idle", "label", "report", "restart"];

/** The goals of the ovn-offload benchmark. Pure. */
interface OffloadSizes {
  readonly hosts: number;
  readonly pools: number;
  /** Number of all nodes. */
  readonly nodes: number;
}

export function renderOvnOffloadReport(report: OvnOffloadReport): string {
  const { options, steps, goals, complaints, date } = report;
  return [
    `ovn-offload, ${options.nodes} hosts in ${options.pools} pools; ${date}`,
    describeRun(report),
    "All written: seconds from the last write that causes the step to the last write of ovn-offload that is not its status",
    "Status: seconds to the last write of the status, which has a pace of its own",
    `Plain client: repeats the writes of that time, with bodies of the same size, over ${options.connections} connections`,
    "Others busy: processors that other programs on this machine used meanwhile; times can be compared only if it is 0",
    "",
    renderTable(head, steps.map(rowOf)),
    "",
    ...goalLines(goals),
    ...complaintLines("service", complaints),
    "",
  ].join("\n");
}

const head = [
  ...["step", "all written", "plain client", "ratio", "status", "others busy", "CPU", "RSS", "peak", "size"],
  "writes by ovn-offload (without leases)",
];

/** The cells of the step's row. */
export function rowOf(step: OffloadStepResult): readonly string[] {
  const { seconds, statusSeconds, plainSeconds, cpuSeconds, rssMb, peakMb, bytes, requests } = step;
  const loads = [step.load, step.plainLoad].filter((load) => load !== undefined);
  const failed = total(requests.failed) === 0 ? "" : `; refused: ${listCounts(requests.failed)}`;
  return [
    titleOf(step),
    showSeconds(seconds),
    showSeconds(plainSeconds),
    showRatio(seconds === undefined || plainSeconds === undefined ? undefined : seconds / plainSeconds),
    showSeconds(statusSeconds),
    loads.map(({ othersBusy }) => othersBusy.toFixed(1)).join(" / "),
    showSeconds(cpuSeconds),
    showMb(rssMb),
    showMb(peakMb),
    `${Math.ceil(bytes / 1000)} kB`,
    `${listCounts(withoutLeases(requests.writes))}${failed}`,
  ];
}

/** The goals for time apply to at least 1,000 hosts: with fewer, the debounce and code that is not yet compiled dominate. */
export function ovnOffloadGoals(results: readonly OffloadStepResult[], sizes: OffloadSizes): readonly Goal[] {
  const steps = sizes.hosts < 1000 ? [] : [...Map.groupBy(results, ({ id }) => id)];
  const peakMb = Math.max(...results.map((result) => result.peakMb));
  return [
    ...steps.flatMap(([id, rounds]) => [...timeGoals(id, rounds), ...statusGoals(id, rounds)]),
    ...results.flatMap((result) => writeGoals(result, sizes)),
    ...(sizes.hosts > 1000 ? [] : [atMost("peak RSS", peakMb, peakMbAt1000, "MB")]),
  ];
}

/** The median of the rounds' ratios, because the speed of the machine varies. */
function timeGoals(id: OffloadStepId, rounds: readonly OffloadStepResult[]): readonly Goal[] {
  const waits = (stages[id] ?? 0) * debounceSeconds;
  if (waits === 0) return [];
  const ratios = rounds.map(({ seconds = Number.NaN, plainSeconds = Number.NaN }) =>
    seconds <= waits ? 0 : (seconds - waits) / plainSeconds,
  );
  return [atMost(`${stepTitles[id]}, after the debounce / plain client`, median(ratios), timesPlain, "x")];
}

/** The status must follow the other writes soon. */
function statusGoals(id: OffloadStepId, rounds: readonly OffloadStepResult[]): readonly Goal[] {
  if (stages[id] === undefined) return [];
  const lags = rounds.map(({ seconds = 0, statusSeconds = Number.NaN }) => Math.max(0, statusSeconds - seconds));
  return [atMost(`${stepTitles[id]}, status after the other writes`, median(lags), statusSecondsLimit, "s")];
}

function writeGoals(result: OffloadStepResult, sizes: OffloadSizes): readonly Goal[] {
  const { id, requests, cpuSeconds } = result;
  const title = titleOf(result);
  const writes = withoutLeases(requests.writes);
  if (quietSteps.includes(id)) {
    return [
      atMost(`${title}, writes`, total(writes), 0, ""),
      ...(id === "label" || id === "report" ? [atMost(`${title}, CPU`, cpuSeconds, quietCpuSeconds, "s")] : []),
    ];
  }
  const of = (resource: string) =>
    total(Object.fromEntries(Object.entries(writes).filter(([what]) => what.endsWith(` ${resource}`))));
  const limits = writeLimits(id, sizes);
  return [
    atMost(`${title}, writes of MachineConfigs`, of("machineconfigs"), limits.machineConfigs, ""),
    atMost(`${title}, writes of Nodes`, of("nodes"), limits.nodes, ""),
    atMost(`${title}, writes of ConfigMaps`, of("configmaps"), limits.configMaps, ""),
  ];
}

/**
 * One write of each MachineConfig and change, and one for each stage of a Node; ConfigMaps are written for many hosts at once. A
 * host that is restored before the others gets the label of DNS, which is removed when all are.
 */
function writeLimits(id: OffloadStepId, { hosts, pools, nodes }: OffloadSizes) {
  const isChange = id === "vfs" || id === "deselect";
  const ofNodes: Partial<Record<OffloadStepId, number>> = { select: nodes, boot: hosts, add: 2, restore: 4 * nodes };
  return {
    machineConfigs: isChange ? pools : 0,
    nodes: ofNodes[id] ?? 0,
    configMaps: Math.max(pools, hosts / 10),
  };
}
