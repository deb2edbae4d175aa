// SPDX-License-Identifier: Apache-2.0
/** The report of the fleet benchmark. Pure. */
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
import type { DrainWave } from "./drain-log.ts";
import type { FleetOptions } from "./fleet-options.ts";
import { stepTitles, titleOf, type StepId, type StepResult } from "./step-result.ts";

/**
 * CPU seconds of upstream's Go operator, measured at 1,000 nodes. Its cost and the goal grow with the number of nodes.
 */
const upstreamCpuSeconds: Partial<Record<StepId, number>> = {
  start: 13,
  "first-policy": 12.1,
  "change-num-vfs": 18.6,
  "more-policies": 16.8,
  "delete-policies": 20.3,
};

const timesPlain = 1.25;

/**
 * The operator's debounce for one change and for a burst. A starting operator sees all nodes at once, which is a burst.
 */
const debounceSeconds = { single: 0.1, burst: 0.5 };

const bursts: readonly StepId[] = ["start", "more-policies", "delete-policies"];

const quietCpuSeconds = 0.05;

const peakMbAt1000 = 130;

const peakMbAt5000 = 400;

/** The report of the benchmark. */
export interface FleetReport extends BenchReport {
  readonly bench: "fleet";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<FleetOptions, "nodes" | "policies" | "profile" | "connections" | "rounds" | "writeConfigMap">;
  readonly steps: readonly StepResult[];
  readonly wave?: DrainWave;
  /** Seconds from SIGTERM to the end of each process. */
  readonly stopSeconds: readonly number[];
  /** Warnings and errors in the operator's log. */
  readonly complaints: readonly string[];
}

export function renderFleetReport(report: FleetReport): string {
  const { options, steps, goals, complaints, date } = report;
  return [
    `Operator${options.writeConfigMap ? " with --write-configmap" : ""}, ${options.nodes} nodes, ${options.policies} policies, profile ${options.profile}; ${date}`,
    describeRun(report),
    `Plain client: server-side apply of the same specs over ${options.connections} connections`,
    "All CPU: CPU time of API server, etcd, operator and harness until the last spec arrived; with the operator / the plain client",
    "Others busy: processors that other programs on this machine used meanwhile; times can be compared only if it is 0",
    "",
    renderTable(head, steps.map(rowOf)),
    "",
    ...(report.wave === undefined ? [] : [describeWave(report.wave), ""]),
    ...goalLines(goals),
    ...complaintLines("operator", complaints),
    "",
  ].join("\n");
}

const head = [
  "step",
  "first node",
  "all nodes",
  "plain client",
  "ratio",
  "all CPU",
  "others busy",
  "operator CPU",
  "RSS",
  "peak",
  "writes by the operator (without leases)",
];

function describeWave({ nodes, limit, peak, longestGapSeconds, allSeconds, cpuSeconds }: DrainWave): string {
  return (
    `${nodes} nodes requested a drain at once, ${limit} were allowed: at most ${peak} drained at once, all were done after ` +
    `${showSeconds(allSeconds)}, each free slot was taken within ${showSeconds(longestGapSeconds)}; operator CPU ${showSeconds(cpuSeconds)}`
  );
}

function rowOf(step: StepResult): readonly string[] {
  const { firstSeconds, allSeconds, plainSeconds, cpuSeconds, rssMb, peakMb, requests } = step;
  const loads = [step.load, step.plainLoad].filter((load) => load !== undefined);
  const writes = withoutLeases(requests.writes);
  const failed = total(requests.failed) === 0 ? "" : `; refused: ${listCounts(requests.failed)}`;
  return [
    titleOf(step),
    showSeconds(firstSeconds),
    showSeconds(allSeconds),
    showSeconds(plainSeconds),
    showRatio(allSeconds === undefined || plainSeconds === undefined ? undefined : allSeconds / plainSeconds),
    loads.map(({ ownSeconds }) => showSeconds(ownSeconds)).join(" / "),
    loads.map(({ othersBusy }) => othersBusy.toFixed(1)).join(" / "),
    showSeconds(cpuSeconds),
    showMb(rssMb),
    showMb(peakMb),
    `${listCounts(writes)}${failed}`,
  ];
}

/**
 * The goals of the fleet benchmark. They compare the operator with upstream's Go operator and with the plain client.
 * Pure.
 * The goals for time and CPU apply to fleets of at least 1,000 nodes: in smaller fleets the debounce and code that is not
 * yet compiled dominate.
 */
export function fleetGoals(results: readonly StepResult[], { nodes }: { readonly nodes: number }): readonly Goal[] {
  const steps = nodes < 1000 ? [] : [...Map.groupBy(results, ({ id }) => id)];
  return [
    ...steps.flatMap(([id, rounds]) => [...timeGoals(id, rounds), ...cpuGoals(id, rounds, nodes)]),
    ...results.flatMap(quietGoals),
    ...memoryGoals(results, nodes),
  ];
}

/**
 * The goals for drains: not more at once than the pool allows, no node twice, and a free slot is taken within a second.
 */
export function waveGoals({ nodes, limit, peak, starts, longestGapSeconds }: DrainWave): readonly Goal[] {
  return [
    atMost("drains at once", peak, limit, ""),
    atMost("drains of all nodes", starts, nodes, ""),
    atMost("free slot to the next drain", longestGapSeconds, 1, "s"),
  ];
}

/**
 * In each round the operator and the plain client run one after the other, on the same machine. The median of the rounds'
 * ratios is more reliable than a duration if the speed of the machine varies.
 */
function timeGoals(id: StepId, rounds: readonly StepResult[]): readonly Goal[] {
  if (rounds.every(({ plainSeconds }) => plainSeconds === undefined)) return [];
  const debounce = bursts.includes(id) ? debounceSeconds.burst : debounceSeconds.single;
  const ratios = rounds.map(
    ({ allSeconds = Number.NaN, plainSeconds = Number.NaN }) => (allSeconds - debounce) / plainSeconds,
  );
  return [atMost(`${stepTitles[id]}, all nodes after the debounce / plain client`, median(ratios), timesPlain, "x")];
}

function cpuGoals(id: StepId, rounds: readonly StepResult[], nodes: number): readonly Goal[] {
  const upstream = upstreamCpuSeconds[id];
  if (upstream === undefined) return [];
  const ours = median(rounds.map(({ cpuSeconds }) => cpuSeconds));
  return [atMost(`${stepTitles[id]}, CPU`, ours, (upstream / 4) * (nodes / 1000), "s")];
}

/** The goals for changes without effect: no writes, and almost no CPU time for a single event. */
function quietGoals(result: StepResult): readonly Goal[] {
  const { id, cpuSeconds, requests } = result;
  const title = titleOf(result);
  return [
    ...(id === "label" ? [atMost(`${title}, CPU`, cpuSeconds, quietCpuSeconds, "s")] : []),
    ...(id === "label" || id === "restart" || id === "report"
      ? [atMost(`${title}, writes`, total(withoutLeases(requests.writes)), 0, "")]
      : []),
  ];
}

function memoryGoals(results: readonly StepResult[], nodes: number): readonly Goal[] {
  const peakMb = Math.max(...results.map((result) => result.peakMb));
  if (nodes <= 1000) return [atMost("peak RSS", peakMb, peakMbAt1000, "MB")];
  return nodes <= 5000 ? [atMost("peak RSS", peakMb, peakMbAt5000, "MB")] : [];
}
