// SPDX-License-Identifier: Apache-2.0
/**
 * The report of the fleet benchmark. Pure.
 * Usage: `process.stdout.write(renderFleetReport(report))`
 */
import type { BenchReport } from "../harness/bench.ts";
import { complaintLines, describeRun, goalLines } from "../harness/report-lines.ts";
import { listCounts, total, withoutLeases } from "../harness/request-count.ts";
import { renderTable, showMb, showRatio, showSeconds } from "../harness/table.ts";
import type { DrainWave } from "./drain-log.ts";
import type { FleetOptions } from "./fleet-options.ts";
import { titleOf, type StepResult } from "./step-result.ts";

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
